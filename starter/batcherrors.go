package starter

import (
	"fmt"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/protoadapt"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch"
	"gnomon/outbound"
)

// Reasons of errors about batches.
const (
	reasonBatchNotFound      = "BATCH_NOT_FOUND"
	reasonBatchAlreadyExists = "BATCH_ALREADY_EXISTS"
	reasonBatchState         = "BATCH_STATE"
	reasonUnvalidated        = "VALIDATION_UNAVAILABLE"
	reasonMaybeAccepted      = "BATCH_MAY_BE_ACCEPTED"
)

// batchNotFound says that no batch of this id was ever accepted.
func batchNotFound(id string) error {
	return refuse(codes.NotFound, reasonBatchNotFound,
		fmt.Sprintf("no batch %q", clip(id, maxMetadataValue)), map[string]string{"id": id})
}

// batchAlreadyExists says that the id is taken, for good.
func batchAlreadyExists(id string) error {
	return refuse(codes.AlreadyExists, reasonBatchAlreadyExists,
		fmt.Sprintf("there is a batch %q already; ids of batches are not used again", clip(id, maxMetadataValue)), map[string]string{"id": id})
}

// batchEtagMismatch says that the batch changed since the caller read it (AIP-154).
func batchEtagMismatch(id string) error {
	return refuse(codes.Aborted, reasonEtagMismatch,
		fmt.Sprintf("batch %q has changed since its etag was read; read it again", clip(id, maxMetadataValue)), map[string]string{"id": id})
}

// batchState says that the batch's state does not allow the call (V-18, V-20).
func batchState(id, state string) error {
	return refuse(codes.FailedPrecondition, reasonBatchState,
		fmt.Sprintf("this call is refused while batch %q is %s", clip(id, maxMetadataValue), state),
		map[string]string{"id": id, "state": state},
		&errdetails.PreconditionFailure{Violations: []*errdetails.PreconditionFailure_Violation{{
			Type: reasonBatchState, Subject: id, Description: "the batch's state is " + state,
		}}})
}

// refusedForProblems is the refusal of a batch for what stands against it, hard and soft,
// of all its changes (V-03).
func refusedForProblems(problems []*gnomonv1.Problem) error {
	bad := &errdetails.BadRequest{}
	var sentences []string
	for i, p := range problems[:min(len(problems), batch.MaxProblems)] {
		field := "batch"
		if p.ChangeIndex != nil {
			field = joinPath(field, batch.ChangePath(int(p.GetChangeIndex())))
		}
		violation := &errdetails.BadRequest_FieldViolation{
			Field:  joinPath(field, p.GetField()),
			Reason: p.GetCode(), Description: strings.ToLower(p.GetSeverity().String()) + " problem: " + p.GetMessage(),
		}
		bad.FieldViolations = append(bad.FieldViolations, violation)
		if i < maxMessageViolations {
			sentences = append(sentences, sentence(violation.GetField(), violation.GetDescription()))
		}
	}
	message := strings.Join(sentences, "; ")
	if more := len(problems) - maxMessageViolations; more > 0 {
		message += fmt.Sprintf("; and %d more", more)
	}
	// Problems come from other services: what they say is bounded.
	message = outbound.Shorten(message, maxProblemMessage)
	return refuse(codes.InvalidArgument, problems[0].GetCode(), message, map[string]string{
		"field":    bad.GetFieldViolations()[0].GetField(),
		"problems": fmt.Sprint(len(problems)),
	}, protoadapt.MessageV1Of(&gnomonv1.BatchProblems{Problems: problems[:len(bad.GetFieldViolations())]}), bad)
}

// maxProblemMessage is in bytes. Details have all that is said.
const maxProblemMessage = 4 << 10
