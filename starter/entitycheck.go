package starter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/entity"
	"gnomon/stages"
	"gnomon/store"
)

// errNotOpen says that a workflow has ended or never ran.
var errNotOpen = errors.New("the workflow is not open")

// queryOpen asks a workflow that is open, for as long as a worker may take to answer.
func (c Config) queryOpen(ctx context.Context, workflowID, name string, into any) error {
	wait, cancel := within(ctx, c.ApplyTimeout)
	defer cancel()
	answer, err := c.Client.QueryWorkflowWithOptions(wait, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: workflowID, QueryType: name, QueryRejectCondition: enumspb.QUERY_REJECT_CONDITION_NOT_OPEN,
	})
	switch {
	case missing(err), err == nil && answer.QueryRejected != nil:
		return errNotOpen
	case err == nil:
		return answer.QueryResult.Get(into)
	case ctx.Err() == nil && (wait.Err() != nil || temporalCode(err) == codes.DeadlineExceeded):
		// The server gives up a little before our own time ends.
		return errNoWorker
	default:
		return err
	}
}

// CheckEntity implements the service (seed 004, check): where no workflow is open nothing
// is pending and no timer is armed.
func (s *Entities) CheckEntity(ctx context.Context, req *gnomonv1.CheckEntityRequest) (*gnomonv1.CheckEntityResponse, error) {
	key, err := keyIn(req)
	if err != nil {
		return nil, err
	}
	found := &gnomonv1.CheckEntityResponse{}
	err = s.queryOpen(ctx, workflowv1.EntityWorkflowID(key.Type, key.ID), workflowv1.QueryCheck, found)
	switch {
	case err == nil:
		found.Asking = s.toBeAsked(key.Type, found)
		return found, nil
	case errors.Is(err, errNoWorker):
		return nil, nobodyAnswered(err)
	case !errors.Is(err, errNotOpen):
		return nil, fromTemporal(err, key.ID)
	}
	if _, err := s.Store.GetEntity(ctx, key); err != nil {
		return nil, fromEntityStore(ctx, err, key)
	}
	return found, nil
}

// allOthers is how a workflow, which does not know the stages that are declared, says that
// all but the pending ones are to be asked.
const allOthers = "*"

// toBeAsked names the stages that a workflow says are to be asked. Where none of the type
// is declared here, that somebody is to be asked is still said.
func (s *Entities) toBeAsked(entityType string, found *gnomonv1.CheckEntityResponse) []string {
	of := s.Stages.Of(entityType)
	if !slices.Contains(found.GetAsking(), allOthers) || len(of) == 0 {
		return found.GetAsking()
	}
	var names []string
	for _, stage := range of {
		if !slices.ContainsFunc(found.GetPending(), func(p *gnomonv1.CheckEntityResponse_Pending) bool {
			return p.GetStage() == stage.Name && !p.GetBackground()
		}) {
			names = append(names, stage.Name)
		}
	}
	return names
}

// ListStages implements the service.
func (s *Entities) ListStages(context.Context, *gnomonv1.ListStagesRequest) (*gnomonv1.ListStagesResponse, error) {
	reply := &gnomonv1.ListStagesResponse{}
	for _, one := range s.Stages.All() {
		reply.Stages = append(reply.Stages, stageOf(one))
	}
	return reply, nil
}

func stageOf(d *stages.Declared) *gnomonv1.Stage {
	return &gnomonv1.Stage{
		Name: d.Name, EntityType: d.EntityType, Address: d.Address, Fields: d.Fields,
		RateLimit: d.RateLimit, Parallelism: d.Parallelism,
	}
}

// PeekStageQueue implements the service (seed 004, peek; G-36).
func (s *Entities) PeekStageQueue(ctx context.Context, req *gnomonv1.PeekStageQueueRequest) (*gnomonv1.PeekStageQueueResponse, error) {
	if _, err := s.declared(req.GetStage()); err != nil {
		return nil, err
	}
	size, err := readPageSize(req.GetPageSize())
	if err != nil {
		return nil, err
	}
	list := listing(fmt.Sprintf("queue %q", req.GetStage()))
	position, err := list.readPageToken(req.GetPageToken())
	if err != nil {
		return nil, err
	}
	query := store.QueueQuery{Stage: req.GetStage(), Limit: size + 1}
	if position != nil {
		if query.After, err = readQueuePosition(req.GetStage(), position.ID); err != nil {
			return nil, err
		}
	}
	entries, err := s.Store.PeekQueue(ctx, query)
	if err != nil {
		return nil, fromStore(ctx, err)
	}
	page := &gnomonv1.PeekStageQueueResponse{}
	for i, one := range entries {
		if i == size {
			page.NextPageToken = list.pageToken(store.ActionPosition{ID: queuePosition(entries[i-1])})
			break
		}
		page.Entries = append(page.Entries, &gnomonv1.PeekStageQueueResponse_Entry{
			Type: one.Key.Type, Id: one.Key.ID, EnqueueTime: timestamppb.New(one.EnqueueTime), Background: one.Background,
		})
	}
	return page, nil
}

// queuePosition is an entry of a queue as text: its time to the nanosecond, whether it is
// in the background, type and id, none of which has a space.
func queuePosition(e store.QueueEntry) string {
	return fmt.Sprintf("%d %t %s %s", e.EnqueueTime.UnixNano(), e.Background, e.Key.Type, e.Key.ID)
}

func readQueuePosition(stage, text string) (*store.QueueEntry, error) {
	malformed := invalidField("page_token", ruleMalformed, "must be the next_page_token of a page before")
	parts := strings.Split(text, " ")
	if len(parts) != 4 {
		return nil, malformed
	}
	nanos, err := strconv.ParseInt(parts[0], 10, 64)
	background, errBool := strconv.ParseBool(parts[1])
	if err != nil || errBool != nil || len(entity.ValidateKey("", parts[2], "", parts[3])) > 0 {
		return nil, malformed
	}
	return &store.QueueEntry{
		Key: store.EntityKey{Type: parts[2], ID: parts[3]}, Stage: stage,
		EnqueueTime: time.Unix(0, nanos).UTC(), Background: background,
	}, nil
}
