package starter

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/stages"
	"gnomon/store"
)

// fakeEntities keeps entities in memory, by the rules of store.Entities.
type fakeEntities struct {
	store.Store

	mu       sync.Mutex
	all      map[store.EntityKey]*gnomonv1.Entity
	versions map[store.EntityKey]int64 // also of deleted ones
	states   map[string]*gnomonv1.StageState
	requests map[string]fakeRequest
	queue    []store.QueueEntry
	walks    map[string]*gnomonv1.Rewalk
	err      error
	asked    []store.QueueQuery
}

type fakeRequest struct {
	digest string
	result store.EntityResult
}

func newFakeEntities() *fakeEntities {
	return &fakeEntities{
		all: map[store.EntityKey]*gnomonv1.Entity{}, versions: map[store.EntityKey]int64{},
		states: map[string]*gnomonv1.StageState{}, requests: map[string]fakeRequest{}, walks: map[string]*gnomonv1.Rewalk{},
	}
}

// PutEntity implements store.Entities.
func (f *fakeEntities) PutEntity(_ context.Context, p store.EntityPut) (store.EntityResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return store.EntityResult{}, f.err
	}
	key := store.EntityKey{Type: p.Entity.GetType(), ID: p.Entity.GetId()}
	request := key.Type + "/" + key.ID + "/" + p.RequestID
	if first, ok := f.requests[request]; ok && p.RequestID != "" {
		if first.digest != p.Digest {
			return store.EntityResult{}, store.ErrRequestReused
		}
		return first.result, nil
	}
	stands := f.all[key]
	switch {
	case stands != nil && p.CreateOnly:
		return store.EntityResult{}, store.ErrEntityExists
	case p.Version != 0 && p.Version != stands.GetVersion():
		return store.EntityResult{}, store.ErrVersion
	}
	r := store.EntityResult{Entity: stands}
	if !proto.Equal(stands.GetContent(), p.Entity.GetContent()) {
		f.versions[key]++
		e := proto.CloneOf(p.Entity)
		e.Version, e.CreateTime, e.UpdateTime = f.versions[key], timestamppb.New(p.At), timestamppb.New(p.At)
		if stands != nil {
			e.CreateTime = stands.GetCreateTime()
		}
		f.all[key] = e
		r = store.EntityResult{Entity: e, Changed: true}
		for name := range e.GetContent().GetFields() {
			if !proto.Equal(stands.GetContent().GetFields()[name], e.GetContent().GetFields()[name]) {
				r.Fields = append(r.Fields, name)
			}
		}
		slices.Sort(r.Fields)
	}
	if p.RequestID != "" {
		f.requests[request] = fakeRequest{p.Digest, r}
	}
	return r, nil
}

// GetEntity implements store.Entities.
func (f *fakeEntities) GetEntity(_ context.Context, key store.EntityKey) (*gnomonv1.Entity, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	if e := f.all[key]; e != nil {
		return proto.CloneOf(e), nil
	}
	return nil, store.ErrNotFound
}

// ListEntities implements store.Entities.
func (f *fakeEntities) ListEntities(_ context.Context, q store.EntityQuery) ([]*gnomonv1.Entity, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var page []*gnomonv1.Entity
	for key, e := range f.all {
		if key.Type == q.Type && key.ID > q.After {
			page = append(page, e)
		}
	}
	slices.SortFunc(page, func(a, b *gnomonv1.Entity) int { return strings.Compare(a.GetId(), b.GetId()) })
	return page[:min(len(page), q.Limit)], f.err
}

// DeleteEntity implements store.Entities.
func (f *fakeEntities) DeleteEntity(_ context.Context, key store.EntityKey, version int64, _ time.Time) (store.EntityResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	stands := f.all[key]
	switch {
	case f.err != nil:
		return store.EntityResult{}, f.err
	case stands == nil:
		return store.EntityResult{}, store.ErrNotFound
	case version != 0 && version != stands.GetVersion():
		return store.EntityResult{}, store.ErrVersion
	}
	delete(f.all, key)
	f.versions[key]++
	return store.EntityResult{Entity: &gnomonv1.Entity{Type: key.Type, Id: key.ID, Version: f.versions[key]}, Changed: true}, nil
}

// GetStageState implements store.Entities.
func (f *fakeEntities) GetStageState(_ context.Context, key store.EntityKey, stage string) (*gnomonv1.StageState, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[key] == nil {
		return nil, store.ErrNotFound
	}
	if st := f.states[key.Type+"/"+key.ID+"/"+stage]; st != nil {
		return st, nil
	}
	return &gnomonv1.StageState{}, f.err
}

// UpdateStageState implements store.Entities.
func (f *fakeEntities) UpdateStageState(_ context.Context, u store.StateUpdate) (store.StateResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.all[u.Key]
	if e == nil {
		return store.StateResult{}, store.ErrNotFound
	}
	at := u.Key.Type + "/" + u.Key.ID + "/" + u.Stage
	stands := f.states[at]
	if stands == nil {
		stands = &gnomonv1.StageState{}
	}
	if stands.GetVersion() != u.Version {
		return store.StateResult{Current: stands, EntityVersion: e.GetVersion()}, f.err
	}
	f.states[at] = &gnomonv1.StageState{State: u.State.GetState(), Version: u.Version + 1, UpdateTime: timestamppb.New(u.At)}
	return store.StateResult{Updated: true, Current: f.states[at], EntityVersion: e.GetVersion()}, f.err
}

// PeekQueue implements store.Entities.
func (f *fakeEntities) PeekQueue(_ context.Context, q store.QueueQuery) ([]store.QueueEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, q)
	rest := f.queue
	if q.After != nil {
		rest = rest[slices.Index(rest, *q.After)+1:]
	}
	return rest[:min(len(rest), q.Limit)], f.err
}

// GetRewalk implements store.Entities.
func (f *fakeEntities) GetRewalk(_ context.Context, stage string) (*gnomonv1.Rewalk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w := f.walks[stage]; w != nil {
		return w, f.err
	}
	return nil, store.ErrNotFound
}

// signalled is a signal that started a workflow if none was open.
type signalled struct {
	workflow, name string
	payload        proto.Message
}

// wakeable is a Temporal that remembers what it was told.
type wakeable struct {
	client.Client

	mu      sync.Mutex
	told    []signalled
	started []client.StartWorkflowOptions
	inputs  []any
	// refuse fails signals and starts.
	refuse error
	// silent keeps signals waiting until their caller gives up.
	silent bool
	// open answers queries by workflow id; one that is not there is not open.
	open map[string]proto.Message
	// deaf has nobody answer queries.
	deaf bool
	// cancelled is called with the workflow of a signal to cancel.
	cancelled func(string)
	// ends is how workflows ended, by their id; one that is not there goes on.
	ends map[string]ending
}

// SignalWithStartWorkflow implements client.Client.
func (w *wakeable) SignalWithStartWorkflow(ctx context.Context, id, name string, payload any, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	if w.silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil {
		return nil, w.refuse
	}
	w.told = append(w.told, signalled{id, name, payload.(proto.Message)})
	w.started, w.inputs = append(w.started, o), append(w.inputs, args[0])
	return nil, nil //nolint:nilnil // the run is not looked at
}

// ExecuteWorkflow implements client.Client.
func (w *wakeable) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil {
		return nil, w.refuse
	}
	w.started, w.inputs = append(w.started, o), append(w.inputs, args[0])
	return nil, nil //nolint:nilnil // the run is not looked at
}

// SignalWorkflow implements client.Client.
func (w *wakeable) SignalWorkflow(_ context.Context, id, _, name string, _ any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open[id] == nil {
		return serviceerror.NewNotFound("none")
	}
	w.told = append(w.told, signalled{workflow: id, name: name})
	if w.cancelled != nil {
		w.cancelled(id)
	}
	return nil
}

// ending is a workflow's result, or why it has none.
type ending struct {
	client.WorkflowRun

	result *gnomonv1.Rewalk
	err    error
}

// Get implements client.WorkflowRun.
func (e ending) Get(ctx context.Context, into any) error {
	if e.result == nil && e.err == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	if e.result != nil {
		proto.Merge(into.(proto.Message), e.result)
	}
	return e.err
}

// GetWorkflow implements client.Client.
func (w *wakeable) GetWorkflow(_ context.Context, id, _ string) client.WorkflowRun {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ends[id]
}

// QueryWorkflowWithOptions implements client.Client.
func (w *wakeable) QueryWorkflowWithOptions(ctx context.Context, r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
	if w.deaf {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.QueryRejectCondition != enumspb.QUERY_REJECT_CONDITION_NOT_OPEN {
		return nil, errors.New("a workflow that has ended would answer")
	}
	m := w.open[r.WorkflowID]
	if m == nil {
		return nil, serviceerror.NewNotFound("none")
	}
	if _, closed := m.(*commonpb.WorkflowExecution); closed {
		return &client.QueryWorkflowWithOptionsResponse{QueryRejected: &querypb.QueryRejected{}}, nil
	}
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(m)
	return &client.QueryWorkflowWithOptionsResponse{QueryResult: encoded{payloads}}, err
}

// encoded implements converter.EncodedValue.
type encoded struct{ payloads *commonpb.Payloads }

func (e encoded) HasValue() bool { return e.payloads != nil }
func (e encoded) Get(into any) error {
	return converter.GetDefaultDataConverter().FromPayloads(e.payloads, into)
}

// entityFacade is a facade of entities before fakes.
type entityFacade struct {
	*Entities

	rows     *fakeEntities
	temporal *wakeable
	log      *syncBuffer
	// untold counts changes that could not be told.
	untold *int
}

func newEntityFacade(t *testing.T) entityFacade {
	t.Helper()
	f := entityFacade{rows: newFakeEntities(), temporal: &wakeable{open: map[string]proto.Message{}}, log: &syncBuffer{}, untold: new(int)}
	var err error
	f.Entities, err = NewEntities(Config{
		Client: f.temporal, Store: f.rows, WatchInterval: time.Millisecond, ApplyTimeout: 50 * time.Millisecond,
		Stages: stages.NewSet(
			&stages.Declared{Declaration: stages.Declaration{Name: "price", EntityType: "offer", Address: "127.0.0.1:1", Fields: []string{"model"}, RateLimit: 2.5, Parallelism: 3}},
			&stages.Declared{Declaration: stages.Declaration{Name: "audit", EntityType: "order", Go: "audit"}},
		),
		Now: func() time.Time { return noon }, Logger: slog.New(slog.NewTextHandler(f.log, nil)), Untold: func() { *f.untold++ },
	})
	require.NoError(t, err)
	return f
}

// content is a JSON object.
func content(t *testing.T, fields map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(fields)
	require.NoError(t, err)
	return s
}

// put puts an offer.
func (f entityFacade) put(t *testing.T, id string, fields map[string]any) *gnomonv1.Entity {
	t.Helper()
	e, err := f.PutEntity(t.Context(), &gnomonv1.PutEntityRequest{Entity: &gnomonv1.Entity{Type: "offer", Id: id, Content: content(t, fields)}})
	require.NoError(t, err)
	return e
}
