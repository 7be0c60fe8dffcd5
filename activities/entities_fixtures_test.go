package activities_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"google.golang.org/protobuf/types/known/structpb"

	"gnomon/activities"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/stages"
	"gnomon/store"
	"gnomon/store/faulty"
	"gnomon/store/sqlite"
)

// shop is a store of entities and a worker's activities on it.
type shop struct {
	*activities.Entities

	t     *testing.T
	rows  *faulty.Store
	saved []*gnomonv1.SavedRecord
	// unsafe is why nothing can be published.
	unsafe error
}

// answering is a stage that does as the test says.
type answering struct {
	asked   func(r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error)
	process func(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error)
	absent  error
}

// Absent implements stages.Absentee.
func (a *answering) Absent() error { return a.absent }

// ShouldProcess implements stages.Stage.
func (a *answering) ShouldProcess(_ context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	return a.asked(r)
}

// Process implements stages.Stage.
func (a *answering) Process(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	return a.process(ctx, r)
}

func newShop(t *testing.T, all ...*stages.Declared) *shop {
	t.Helper()
	rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.MemoryPath, Migrate: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	s := &shop{t: t, rows: faulty.New(rows, 1)}
	s.Entities = s.worker(all...)
	return s
}

// worker is one more worker of the same installation.
func (s *shop) worker(all ...*stages.Declared) *activities.Entities {
	return &activities.Entities{Store: s.rows, Stages: stages.NewSet(all...), Publisher: s, Log: slog.New(slog.DiscardHandler), Now: time.Now}
}

// Publish implements publish.Publisher.
func (s *shop) Publish(_ context.Context, records []*gnomonv1.SavedRecord) error {
	if s.unsafe != nil {
		return s.unsafe
	}
	s.saved = append(s.saved, records...)
	return nil
}

// Close implements publish.Publisher.
func (*shop) Close() error { return nil }

func declared(name string, a *answering, change ...func(*stages.Declaration)) *stages.Declared {
	d := stages.Declaration{Name: name, EntityType: "offer", Go: name}.WithDefaults()
	for _, c := range change {
		c(&d)
	}
	return &stages.Declared{Declaration: d, Stage: a}
}

func (s *shop) put(id string, fields map[string]any) *gnomonv1.Entity {
	s.t.Helper()
	content, err := structpb.NewStruct(fields)
	require.NoError(s.t, err)
	r, err := s.rows.PutEntity(s.t.Context(), store.EntityPut{Entity: &gnomonv1.Entity{Type: "offer", Id: id, Content: content}, At: time.Now()})
	require.NoError(s.t, err)
	return r.Entity
}

func (s *shop) entity(id string) *gnomonv1.Entity {
	s.t.Helper()
	e, err := s.rows.GetEntity(s.t.Context(), store.EntityKey{Type: "offer", ID: id})
	require.NoError(s.t, err)
	return e
}

func environment() *testsuite.TestActivityEnvironment {
	suite := &testsuite.WorkflowTestSuite{}
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(time.Minute)
	return env
}

func visitOf(stage, id string, number int) *workflowv1.VisitInput {
	return &workflowv1.VisitInput{Type: "offer", Id: id, Stage: stage, VisitId: fmt.Sprintf("run/%s/%s/%d", stage, id, number), Cause: gnomonv1.ProcessRequest_CHANGE}
}

// visit makes one attempt.
func visit(e *activities.Entities, in *workflowv1.VisitInput) (*workflowv1.VisitResult, error) {
	env := environment()
	env.RegisterActivity(e.Process)
	v, err := env.ExecuteActivity(e.Process, in)
	if err != nil {
		return nil, err
	}
	r := &workflowv1.VisitResult{}
	return r, v.Get(r)
}

// crowd makes many visits at once by several workers, and says how long that took.
func crowd(t *testing.T, workers []*activities.Entities, each int, in func(worker, number int) *workflowv1.VisitInput) time.Duration {
	t.Helper()
	begun := time.Now()
	var making sync.WaitGroup
	for w, worker := range workers {
		for n := range each {
			making.Go(func() {
				if _, err := visit(worker, in(w, n)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	making.Wait()
	return time.Since(begun)
}
