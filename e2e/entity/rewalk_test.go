package entity

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/stages"
	"gnomon/store"
)

// walkVariable is how many entities TestWalkBesideChanges walks through; with it the bound
// on the latency is held too, which takes a machine of its own.
const walkVariable = "GNOMON_TEST_WALK"

// fill puts offers that nobody is told of.
func (s *site) fill(t *testing.T, count int) {
	t.Helper()
	for i := range count {
		content := &structpb.Struct{Fields: map[string]*structpb.Value{"i": structpb.NewNumberValue(float64(i))}}
		e := &gnomonv1.Entity{Type: s.kind, Id: fmt.Sprintf("o-%06d", i), Content: content}
		_, err := s.rows.PutEntity(t.Context(), store.EntityPut{Entity: e, At: time.Now()})
		require.NoError(t, err)
		require.NoError(t, s.rows.Published(t.Context(), store.EntityKey{Type: s.kind, ID: e.GetId()}, 1))
	}
}

// latency is how long a new offer takes from its put to the stage's commit.
func (s *site) latency(id string) time.Duration {
	began := time.Now()
	s.put(id, map[string]any{"model": "real"})
	s.reaches(id, 2)
	return time.Since(began)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// walkBlocks is how many parts the walk of TestWalkBesideChanges has, each by a stage and a
// type of its own: real changes are measured between them too, so that what else goes on
// on the machine is the same for both.
const walkBlocks = 8

// walker is a stage that wants one in twenty of what it walks through, and all that is real.
func walker() *played {
	p := pricing()
	p.should = func(r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
		fields := r.GetEntity().GetContent().GetFields()
		one := int(fields["i"].GetNumberValue())
		return answer(fields["price"] == nil && (fields["model"] != nil || one%20 == 7)), nil
	}
	return p
}

// G-30, G-31: stages walk through all entities, each is asked about, those that want it are
// visited behind the real changes, and how long a real change takes stays as it was.
//
//nolint:paralleltest // it measures
func TestWalkBesideChanges(t *testing.T) {
	count, rate, bound := 800, 200.0, 0.0
	if asked, err := strconv.Atoi(os.Getenv(walkVariable)); err == nil {
		count, rate, bound = asked, 100, 1.3
	}
	count /= walkBlocks
	var walkers []*played
	var declared []*stages.Declared
	for k := range walkBlocks {
		walkers = append(walkers, walker())
		declared = append(declared, stage(fmt.Sprintf("walking-%d", k), walkers[k], func(d *stages.Declaration) { d.EntityType = fmt.Sprintf("walked-%d", k) }))
	}
	s := open(t, declared...)
	var between, during []time.Duration
	var took time.Duration
	var walked, enqueued uint64
	for k, p := range walkers {
		s.kind = declared[k].EntityType
		s.fill(t, count)
		for i := range 15 {
			between = append(between, s.latency(fmt.Sprintf("before-%d", i)))
		}
		began := time.Now()
		walk, err := s.calls.RewalkStage(t.Context(), &gnomonv1.RewalkStageRequest{Stage: declared[k].Name, Rate: rate})
		require.NoError(t, err)
		for i := 0; walk.GetState() == gnomonv1.Rewalk_RUNNING; i++ {
			require.Less(t, time.Since(began), 5*time.Minute)
			during = append(during, s.latency(fmt.Sprintf("real-%d", i)))
			walk, err = s.calls.GetRewalk(t.Context(), &gnomonv1.GetRewalkRequest{Stage: declared[k].Name})
			require.NoError(t, err)
		}
		took += time.Since(began)
		require.Equal(t, gnomonv1.Rewalk_DONE, walk.GetState())
		require.Greater(t, time.Since(began).Seconds(), float64(count)/rate*0.9, "no faster than its rate")
		walked, enqueued = walked+walk.GetWalked(), enqueued+walk.GetEnqueued()
		p.hasWalked(t, s, count)
	}
	require.GreaterOrEqual(t, walked, uint64(count*walkBlocks))
	ratio := float64(median(during)) / float64(median(between))
	t.Logf("%d entities in %s, %d visits; a real change took %s between the walks (median of %d), %s during them (of %d): %.2f",
		walked, took.Round(time.Millisecond), enqueued, median(between), len(between), median(during), len(during), ratio)
	if bound > 0 {
		require.LessOrEqual(t, ratio, bound)
	}
}

// hasWalked holds that a walker was asked about all entities, and has visited those that it
// wanted.
func (p *played) hasWalked(t *testing.T, s *site, count int) {
	t.Helper()
	asked := map[string]bool{}
	p.mu.Lock()
	for _, r := range p.asked {
		asked[r.GetEntity().GetId()] = true
	}
	p.mu.Unlock()
	for i := range count {
		require.True(t, asked[fmt.Sprintf("o-%06d", i)], "%d was left out", i)
	}
	s.becomes("who wanted it was visited", func() bool {
		for i := 7; i < count; i += 20 {
			if len(p.seen(fmt.Sprintf("o-%06d", i))) == 0 {
				return false
			}
		}
		return true
	})
}

// G-30: one walk of a stage at a time; it is cancelled where it is, and the next begins anew.
func TestWalkIsCancelled(t *testing.T) {
	t.Parallel()
	lazy := &played{should: func(*gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
		return answer(false), nil
	}}
	s := open(t, stage("lazy", lazy, nil))
	s.fill(t, 60)
	first, err := s.calls.RewalkStage(t.Context(), &gnomonv1.RewalkStageRequest{Stage: "lazy", Rate: 5})
	require.NoError(t, err)
	second, err := s.calls.RewalkStage(t.Context(), &gnomonv1.RewalkStageRequest{Stage: "lazy", Rate: 10_000})
	require.NoError(t, err)
	require.Equal(t, gnomonv1.Rewalk_RUNNING, second.GetState())
	if first.GetTotal() > 0 { // it had begun to count
		require.Equal(t, first.GetStartTime().AsTime(), second.GetStartTime().AsTime())
	}
	s.becomes("it walks", func() bool {
		lazy.mu.Lock()
		defer lazy.mu.Unlock()
		return len(lazy.asked) > 3
	})
	ended, err := s.calls.CancelRewalk(t.Context(), &gnomonv1.CancelRewalkRequest{Stage: "lazy"})
	require.NoError(t, err)
	require.Equal(t, gnomonv1.Rewalk_CANCELLED, ended.GetState())
	require.Positive(t, ended.GetWalked())
	require.Less(t, ended.GetWalked(), uint64(60))
	require.EqualValues(t, 60, ended.GetTotal())
	s.becomes("the next is another", func() bool {
		w, err := s.calls.RewalkStage(t.Context(), &gnomonv1.RewalkStageRequest{Stage: "lazy", Rate: 10_000})
		require.NoError(t, err)
		return w.GetState() == gnomonv1.Rewalk_DONE && w.GetWalked() == 60
	})
}
