package starter

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

	// Messages that a state can be over REST, beside those that gnomon uses itself.
	_ "google.golang.org/protobuf/types/known/emptypb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// Reasons of errors about entities, stages and walks.
const (
	reasonEntityNotFound  = "ENTITY_NOT_FOUND"
	reasonEntityExists    = "ENTITY_ALREADY_EXISTS"
	reasonVersionMismatch = "VERSION_MISMATCH"
	reasonStageNotFound   = "STAGE_NOT_FOUND"
	reasonRewalkNotFound  = "REWALK_NOT_FOUND"
	reasonVisitNotWanted  = "VISIT_NOT_REQUESTED"
	reasonUnknownState    = "UNKNOWN_STATE_TYPE"
)

// fromEntityStore maps an error of the store, which is the truth of entities: what it does
// not have is not there.
func fromEntityStore(ctx context.Context, err error, key store.EntityKey) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return entityNotFound(key)
	case errors.Is(err, store.ErrVersion):
		return versionMismatch(key)
	}
	return fromStore(ctx, err)
}

func ofEntity(key store.EntityKey) map[string]string {
	return map[string]string{"type": key.Type, "id": key.ID}
}

func entityNotFound(key store.EntityKey) error {
	return refuse(codes.NotFound, reasonEntityNotFound, fmt.Sprintf("no %s %q", key.Type, key.ID), ofEntity(key))
}

func entityExists(key store.EntityKey) error {
	return refuse(codes.AlreadyExists, reasonEntityExists, fmt.Sprintf("there is a %s %q already", key.Type, key.ID), ofEntity(key))
}

// versionMismatch says that the entity changed since the caller read it (AIP-154).
func versionMismatch(key store.EntityKey) error {
	return refuse(codes.Aborted, reasonVersionMismatch,
		fmt.Sprintf("%s %q is of another version than the one given; read it again", key.Type, key.ID), ofEntity(key))
}

func stageNotFound(name string) error {
	return refuse(codes.NotFound, reasonStageNotFound, fmt.Sprintf("no stage %q is declared", name), map[string]string{"stage": name})
}

// stageOfOther says that a stage has nothing to do with the type of an entity.
func stageOfOther(name, itsType, asked string) error {
	return refuse(codes.NotFound, reasonStageNotFound,
		fmt.Sprintf("stage %q watches entities of type %q and not %q", name, itsType, asked), map[string]string{"stage": name, "type": itsType})
}

func rewalkNotFound(stage string) error {
	return refuse(codes.NotFound, reasonRewalkNotFound, fmt.Sprintf("stage %q has never walked", stage), map[string]string{"stage": stage})
}

// nobodyAnswered says that no worker answered a question.
func nobodyAnswered(cause error) error {
	return unavailable(reasonNoWorker, "no worker answered; try again later", cause)
}

// speakable refuses what REST cannot say: a state may be a message of a type that only its
// stage knows, for which there is no JSON.
func speakable(_ context.Context, _ http.ResponseWriter, reply proto.Message) error {
	var state *anypb.Any
	switch r := reply.(type) {
	case *gnomonv1.StageState:
		state = r.GetState()
	case *gnomonv1.UpdateStageStateResponse:
		state = r.GetCurrent().GetState()
	}
	if state == nil {
		return nil
	}
	if _, err := protoregistry.GlobalTypes.FindMessageByURL(state.GetTypeUrl()); err == nil {
		return nil
	}
	return refuse(codes.FailedPrecondition, reasonUnknownState,
		fmt.Sprintf("the state is a %q, which gnomon does not know and cannot say in JSON; read it over gRPC", clip(state.GetTypeUrl(), maxMetadataValue)),
		map[string]string{"type_url": state.GetTypeUrl()})
}
