package activities_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/stages"
	"gnomon/store"
	"gnomon/store/faulty"
)

// says is a stage that answers every question so.
func says(r *gnomonv1.ShouldProcessResponse, err error) *answering {
	return &answering{asked: func(*gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) { return r, err }}
}

func answer(yes bool) *gnomonv1.ShouldProcessResponse {
	return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_ShouldProcess{ShouldProcess: yes}}
}

func atTime(t *timestamppb.Timestamp) *gnomonv1.ShouldProcessResponse {
	return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_Timer{Timer: t}}
}

func (s *shop) asks(in *workflowv1.AskInput) (*workflowv1.AskResult, error) {
	env := environment()
	env.RegisterActivity(s.AskStages)
	v, err := env.ExecuteActivity(s.AskStages, in)
	if err != nil {
		return nil, err
	}
	r := &workflowv1.AskResult{}
	return r, v.Get(r)
}

func yeses(r *workflowv1.AskResult) []string {
	var all []string
	for _, a := range r.GetAnswers() {
		if a.GetVisit() {
			all = append(all, a.GetStage())
		}
	}
	return all
}

// G-14, G-15: yes, no, a moment; and a question that fails counts as yes, whatever the
// failure is.
func TestAskStages(t *testing.T) {
	t.Parallel()
	slow := declared("slow", &answering{}, func(d *stages.Declaration) { d.ShouldProcessTimeout = 10 * time.Millisecond })
	slow.Stage = lingering{}
	noon := timestamppb.New(time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC))
	s := newShop(t,
		declared("yes", says(answer(true), nil)), declared("no", says(answer(false), nil)), declared("later", says(atTime(noon), nil)),
		declared("fails", says(nil, errors.New("it is down"))), declared("empty", says(&gnomonv1.ShouldProcessResponse{}, nil)),
		declared("wrong", says(atTime(&timestamppb.Timestamp{Seconds: math.MaxInt64}), nil)), slow,
		&stages.Declared{Declaration: stages.Declaration{Name: "other", EntityType: "order"}, Stage: says(answer(true), nil)},
	)
	s.put("1", map[string]any{"x": 1})
	r, err := s.asks(&workflowv1.AskInput{Type: "offer", Id: "1"})
	require.NoError(t, err)
	require.EqualValues(t, 1, r.GetVersion())
	require.Equal(t, []string{"empty", "fails", "slow", "wrong", "yes"}, yeses(r))
	for _, a := range r.GetAnswers() {
		require.Equal(t, a.GetVisit() && a.GetStage() != "yes", a.GetError() != "", a.GetStage())
		if a.GetStage() == "later" {
			require.Equal(t, noon.AsTime(), a.GetTimer().AsTime())
		}
	}
	require.Len(t, r.GetAnswers(), 6, "who says no is not named")
}

// lingering is a stage that does not answer in time.
type lingering struct{ stages.Stage }

// ShouldProcess implements stages.Stage.
func (lingering) ShouldProcess(ctx context.Context, _ *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// G-23, G-27, G-29: who is asked.
func TestAskStagesWhom(t *testing.T) {
	t.Parallel()
	fields := func(names ...string) func(*stages.Declaration) {
		return func(d *stages.Declaration) { d.Fields = names }
	}
	yes := says(answer(true), nil)
	s := newShop(t, declared("all", yes), declared("x", yes, fields("x")), declared("y", yes, fields("y", "z")))
	s.put("1", map[string]any{"x": 1})
	for _, c := range []struct {
		in   *workflowv1.AskInput
		want []string
	}{
		{&workflowv1.AskInput{}, []string{"all", "x", "y"}},
		{&workflowv1.AskInput{Fields: []string{"x"}}, []string{"all", "x"}},
		{&workflowv1.AskInput{Fields: []string{"w", "z"}}, []string{"all", "y"}},
		{&workflowv1.AskInput{Fields: []string{"x"}, Also: []string{"y"}}, []string{"all", "x", "y"}},
		{&workflowv1.AskInput{Except: []string{"all"}}, []string{"x", "y"}},
		{&workflowv1.AskInput{Fields: []string{"x"}, Only: []string{"y"}}, []string{"y"}},
	} {
		c.in.Type, c.in.Id = "offer", "1"
		r, err := s.asks(c.in)
		require.NoError(t, err)
		require.Equal(t, c.want, yeses(r), "%v", c.in)
	}
	r, err := s.asks(&workflowv1.AskInput{Type: "offer", Id: "none"})
	require.NoError(t, err)
	require.True(t, r.GetGone())
	s.rows.Set(faulty.Faults{Fail: 1})
	_, err = s.asks(&workflowv1.AskInput{Type: "offer", Id: "1"})
	require.ErrorContains(t, err, "injected", "the question is put again")
}

// G-12: records are published in order until none is left, again after a failure; changes
// from outside among them are told.
func TestPublishSaved(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	publish := func() (*workflowv1.PublishSavedResult, error) {
		env := environment()
		env.RegisterActivity(s.PublishSaved)
		v, err := env.ExecuteActivity(s.PublishSaved, &workflowv1.PublishSavedInput{Type: "offer", Id: "1"})
		if err != nil {
			return nil, err
		}
		r := &workflowv1.PublishSavedResult{}
		return r, v.Get(r)
	}
	for i := range 50 {
		s.put("1", map[string]any{"x": i})
	}
	s.unsafe = errors.New("the broker is down")
	_, err := publish()
	require.ErrorContains(t, err, "the broker is down")
	s.unsafe = nil
	r, err := publish()
	require.NoError(t, err)
	require.EqualValues(t, 50, r.GetPublished())
	require.EqualValues(t, 50, r.GetVersion(), "nobody may have told of it")
	require.Len(t, s.saved, 50)
	for i, record := range s.saved {
		require.EqualValues(t, i+1, record.GetSequence())
	}
	r, err = publish()
	require.NoError(t, err)
	require.Zero(t, r.GetPublished())
	require.EqualValues(t, 50, r.GetVersion(), "an attempt before may not have reported")
}

// G-34: the rows of the queue replace what was there.
func TestMirrorQueue(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	mirror := func(sequence uint64, entries ...*workflowv1.MirrorQueueInput_Entry) {
		env := environment()
		env.RegisterActivity(s.MirrorQueue)
		_, err := env.ExecuteActivity(s.MirrorQueue, &workflowv1.MirrorQueueInput{
			Type: "offer", Id: "1", Incarnation: timestamppb.New(at), Sequence: sequence, Entries: entries,
		})
		require.NoError(t, err)
	}
	mirror(2, &workflowv1.MirrorQueueInput_Entry{Stage: "a", EnqueueTime: timestamppb.New(at), Background: true})
	mirror(1)
	rows, err := s.rows.PeekQueue(t.Context(), store.QueueQuery{Stage: "a", Limit: 10})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, store.EntityKey{Type: "offer", ID: "1"}, rows[0].Key)
	require.True(t, rows[0].Background)
	require.True(t, at.Equal(rows[0].EnqueueTime))
	mirror(3)
	rows, err = s.rows.PeekQueue(t.Context(), store.QueueQuery{Stage: "a", Limit: 10})
	require.NoError(t, err)
	require.Empty(t, rows)
}
