package starter

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/trace"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"gnomon/action"
	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/tracing"
)

// labelTenant is the label that is a search attribute too.
const labelTenant = "tenant"

// compact encodes what a run is started with: as long as an action waits, this is most
// of what Temporal keeps of it, and as JSON it is half as much again as the workflow by
// hand keeps (docs/performance.md). Every data converter reads it. The Web UI shows the
// run's summary, its details and its current state instead.
var compact = converter.NewProtoPayloadConverterWithOptions(converter.ProtoPayloadConverterOptions{ExcludeProtobufMessageTypes: true})

// start starts the workflow of a new action and says which run it is. With the
// same requestID Temporal answers with the run that the first call started, open
// or closed; it is an error if another run of this id is open. The SDK has no way
// to give a request id, so this is the bare call.
func (s *Actions) start(ctx context.Context, st *workflowv1.ActionState, requestID string) (runID string, err error) {
	input, err := compact.ToPayload(st)
	if err != nil {
		return "", internal("ENCODING", "the action cannot be encoded", err)
	}
	attributes, err := s.attributes(st)
	if err != nil {
		return "", internal("ENCODING", "the search attributes cannot be encoded", err)
	}
	// Only to be read: a copy is dear where the payload is big.
	seen := &gnomonv1.ScheduledAction{Meta: st.GetMeta(), Spec: st.GetSpec(), Status: st.GetStatus()}
	summary, err := s.payloads.ToPayload(life.StaticSummary(seen))
	if err != nil {
		return "", internal("ENCODING", "the summary cannot be encoded", err)
	}
	shown := &sdkpb.UserMetadata{Summary: summary}
	if details := life.StaticDetails(seen); details != "" {
		if shown.Details, err = s.payloads.ToPayload(details); err != nil {
			return "", internal("ENCODING", "the details cannot be encoded", err)
		}
	}
	ctx, span := tracing.Begin(ctx, "StartWorkflow:"+workflowv1.ActionWorkflow, trace.WithSpanKind(trace.SpanKindClient))
	defer func() { tracing.End(span, err) }()
	req := &workflowservice.StartWorkflowExecutionRequest{
		Namespace:                s.Namespace,
		WorkflowId:               workflowv1.WorkflowID(st.GetMeta().GetId()),
		WorkflowType:             &commonpb.WorkflowType{Name: workflowv1.ActionWorkflow},
		TaskQueue:                &taskqueuepb.TaskQueue{Name: s.TaskQueue, Kind: enumspb.TASK_QUEUE_KIND_NORMAL},
		Input:                    &commonpb.Payloads{Payloads: []*commonpb.Payload{input}},
		Identity:                 "gnomon-starter",
		RequestId:                requestID,
		WorkflowTaskTimeout:      durationpb.New(workflowv1.TaskTimeout),
		WorkflowIdReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIdConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		SearchAttributes:         &commonpb.SearchAttributes{IndexedFields: attributes},
		UserMetadata:             shown,
		Header:                   tracing.Header(ctx),
	}
	reply, err := whileNew(ctx, attributesUnknown, func() (*workflowservice.StartWorkflowExecutionResponse, error) {
		return s.Client.WorkflowService().StartWorkflowExecution(ctx, req)
	})
	if err != nil {
		return "", err
	}
	return reply.GetRunId(), nil
}

// attributes are the search attributes of a new run, encoded. Temporal knows their types,
// since it accepts no others, and would keep twice what were said of them here.
func (s *Actions) attributes(st *workflowv1.ActionState) (map[string]*commonpb.Payload, error) {
	encoded := map[string]*commonpb.Payload{}
	for name, value := range keywords(st) {
		p, err := s.payloads.ToPayload(value)
		if err != nil {
			return nil, err
		}
		encoded[name] = p
	}
	if build := workflowv1.BuildID(s.Build); build != "" {
		took, err := s.payloads.ToPayload([]string{unversioned, unversioned + ":" + build})
		if err != nil {
			return nil, err
		}
		encoded[buildIDs] = took
	}
	return encoded, nil
}

const (
	// buildIDs is Temporal's own search attribute of the builds that took part in a run, and
	// unversioned what it has for workers that have no versions of deployments: alone, and
	// before each of their build ids. The first task that is completed makes both of what is
	// not there, and has the lists written again for it.
	buildIDs    = "BuildIds"
	unversioned = "unversioned"
)

// keywords are the search attributes of a new run (P-04).
func keywords(st *workflowv1.ActionState) map[string]string {
	k := map[string]string{workflowv1.SearchKind: action.Kind(st.GetSpec().GetAction())}
	if tenant := st.GetMeta().GetLabels()[labelTenant]; tenant != "" {
		k[workflowv1.SearchTenant] = tenant
	}
	return k
}

// startOptions are those of start for the SDK's calls that start where nothing
// runs.
func (s *Actions) startOptions(st *workflowv1.ActionState) client.StartWorkflowOptions {
	var updates []temporal.SearchAttributeUpdate
	for name, value := range keywords(st) {
		updates = append(updates, temporal.NewSearchAttributeKeyKeyword(name).ValueSet(value))
	}
	seen := life.Action(st)
	return client.StartWorkflowOptions{
		ID:                       workflowv1.WorkflowID(st.GetMeta().GetId()),
		TaskQueue:                s.TaskQueue,
		WorkflowTaskTimeout:      workflowv1.TaskTimeout,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		TypedSearchAttributes:    temporal.NewSearchAttributes(updates...),
		StaticSummary:            life.StaticSummary(seen),
		StaticDetails:            life.StaticDetails(seen),
	}
}

// startedWith is the state that a run was started with.
func (s *Actions) startedWith(ctx context.Context, id, runID string) (*workflowv1.ActionState, error) {
	st := &workflowv1.ActionState{}
	return st, s.input(ctx, workflowv1.WorkflowID(id), runID, st)
}

// input reads what a run was started with; without a run id, the newest one.
func (c Config) input(ctx context.Context, workflowID, runID string, into proto.Message) error {
	reply, err := c.Client.WorkflowService().GetWorkflowExecutionHistory(ctx, &workflowservice.GetWorkflowExecutionHistoryRequest{
		Namespace:       c.Namespace,
		Execution:       &commonpb.WorkflowExecution{WorkflowId: workflowID, RunId: runID},
		MaximumPageSize: 1,
	})
	if err != nil {
		return err
	}
	for _, event := range reply.GetHistory().GetEvents() {
		if started := event.GetWorkflowExecutionStartedEventAttributes(); started != nil {
			return converter.GetDefaultDataConverter().FromPayloads(started.GetInput(), into)
		}
	}
	return errors.New("the run's history does not begin with its start")
}

// describe tells of the newest run of an action.
func (s *Actions) describe(ctx context.Context, id string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return s.Client.DescribeWorkflowExecution(ctx, workflowv1.WorkflowID(id), "")
}

// created is the reply to the create that a state came from.
func created(st *workflowv1.ActionState) *gnomonv1.ScheduledAction { return life.Action(st) }

func missing(err error) bool {
	var none *serviceerror.NotFound
	return errors.As(err, &none)
}
