package record

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/stages"
	"gnomon/stages/wake"
	"gnomon/store"
	"gnomon/worker"
)

// entityType is that of the recordings' entities, whose ids are their names.
const entityType = "offer"

// cascadePause is long enough for what else wakes an entity after a change to be over.
const cascadePause = 6 * time.Second

// catalogue is an installation of entities.
type catalogue struct {
	*installation

	mu sync.Mutex
	// silent is why nothing can be published.
	silent error
}

// Publish implements publish.Publisher.
func (c *catalogue) Publish(context.Context, []*gnomonv1.SavedRecord) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.silent
}

// Close implements publish.Publisher.
func (*catalogue) Close() error { return nil }

// working is a stage that wants every change and does this.
type working func(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error)

// ShouldProcess implements stages.Stage.
func (working) ShouldProcess(context.Context, *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_ShouldProcess{ShouldProcess: true}}, nil
}

// Process implements stages.Stage.
func (w working) Process(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	return w(ctx, r)
}

// idle is a stage that does nothing.
func idle(context.Context, *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	return &gnomonv1.ProcessResponse{}, nil
}

// setting is a stage that sets a field, once.
func setting(field string) working {
	return func(_ context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
		if _, has := r.GetEntity().GetContent().GetFields()[field]; has {
			return &gnomonv1.ProcessResponse{}, nil
		}
		return patching(field, 1), nil
	}
}

func patching(field string, value float64) *gnomonv1.ProcessResponse {
	return &gnomonv1.ProcessResponse{EntityUpdate: &gnomonv1.ProcessResponse_MergePatch{MergePatch: &structpb.Struct{
		Fields: map[string]*structpb.Value{field: structpb.NewNumberValue(value)},
	}}}
}

// held is a stage that works until it is let go.
type held struct{ entered, release chan struct{} }

func hold() *held {
	return &held{entered: make(chan struct{}, 100), release: make(chan struct{})}
}

func (h *held) work(ctx context.Context, _ *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	h.entered <- struct{}{}
	select {
	case <-h.release:
		return &gnomonv1.ProcessResponse{}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// let lets all go, now and from now on.
func (h *held) let() { close(h.release) }

func (h *held) enters(t *testing.T) {
	t.Helper()
	select {
	case <-h.entered:
	case <-limited(t).Done():
		require.Fail(t, "nobody works")
	}
}

// declare is a stage of one installation.
func declare(name string, w working, change ...func(*stages.Declaration)) *stages.Declared {
	d := stages.Declaration{Name: name, EntityType: entityType, Go: name, ProcessTimeout: within}.WithDefaults()
	for _, c := range change {
		c(&d)
	}
	return &stages.Declared{Declaration: d, Stage: w}
}

// catalogued brings one up with these stages.
func catalogued(t *testing.T, all ...*stages.Declared) *catalogue {
	t.Helper()
	c := &catalogue{installation: installIdle(t)}
	c.batches = worker.Config{
		Stages: stages.NewSet(all...), Publisher: c,
		Entities: &workflowv1.EntitySettings{CascadeCap: 1, CascadePause: durationpb.New(cascadePause), RetryMin: durationpb.New(time.Hour)},
	}
	c.work(t)
	return c
}

func (*catalogue) key(id string) store.EntityKey {
	return store.EntityKey{Type: entityType, ID: id}
}

// put makes a version and tells of it.
func (c *catalogue) put(t *testing.T, id string, value float64) {
	t.Helper()
	r, err := c.store.PutEntity(t.Context(), store.EntityPut{At: time.Now(), Entity: &gnomonv1.Entity{
		Type: entityType, Id: id, Content: &structpb.Struct{Fields: map[string]*structpb.Value{"value": structpb.NewNumberValue(value)}},
	}})
	require.NoError(t, err)
	c.tell(t, id, r.Entity.GetVersion(), r.Fields...)
}

func (c *catalogue) tell(t *testing.T, id string, version int64, fields ...string) {
	t.Helper()
	require.NoError(t, wake.Changed(t.Context(), c.client, c.queue, c.key(id), version, fields))
}

func (c *catalogue) want(t *testing.T, id string, v *workflowv1.VisitRequested) {
	t.Helper()
	require.NoError(t, wake.Visit(t.Context(), c.client, c.queue, c.key(id), v))
}

// check is what the workflow says of itself.
func (c *catalogue) check(t *testing.T, id string) *gnomonv1.CheckEntityResponse {
	t.Helper()
	r := &gnomonv1.CheckEntityResponse{}
	c.ask(t, workflowv1.EntityWorkflowID(entityType, id), workflowv1.QueryCheck, r)
	return r
}

// comes waits until the workflow says something of itself, and has decided upon all it
// knows.
func (c *catalogue) comes(t *testing.T, id string, what func(*gnomonv1.CheckEntityResponse) bool) {
	t.Helper()
	require.Eventually(t, func() bool { return what(c.check(t, id)) }, within, 20*time.Millisecond, id)
	c.settles(t, id)
}

// ended records entities to which nothing is left to do.
func (c *catalogue) ended(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		c.happens(t, id, ends, 1)
		made.save(t, c.installation, id)
	}
}

// published waits until nothing is owed to the publisher.
func (c *catalogue) published(t *testing.T, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		left, err := c.store.Unpublished(t.Context(), c.key(id), 1)
		return err == nil && len(left) == 0 && len(c.describe(t, id).GetPendingActivities()) == 0
	}, within, 20*time.Millisecond, id)
	c.settles(t, id)
}

var errDown = errors.New("it is down")
