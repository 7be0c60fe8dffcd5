package entity

import (
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

const (
	// walkPage is how long a page of a walk takes, about, at its rate.
	walkPage = 10 * time.Second
	// maxWalkPage is how many entities a page has at most.
	maxWalkPage = 1000
)

// BeginWalk takes that a walk begins and how many entities there are.
func BeginWalk(s *workflowv1.RewalkState, total uint64, now time.Time) {
	if s.GetWalk() == nil {
		s.Walk = &gnomonv1.Rewalk{}
	}
	s.Walk.State, s.Walk.Total, s.Walk.StartTime = gnomonv1.Rewalk_RUNNING, total, timestamppb.New(now)
	s.Incarnation = timestamppb.New(now)
}

// NextPage is the page that a walk goes through next.
func NextPage(s *workflowv1.RewalkState) *workflowv1.RewalkPageInput {
	limit := math.Ceil(s.GetRate() * walkPage.Seconds())
	return &workflowv1.RewalkPageInput{
		Stage: s.GetWalk().GetStage(), EntityType: s.GetEntityType(), After: s.GetWalk().GetPosition(),
		Limit: uint32(max(1, min(limit, maxWalkPage))), Rate: s.GetRate(), Unconditional: s.GetUnconditional(),
	}
}

// Walked takes what became of a page. One that was given up half way counts as far as it
// came: every entity up to its position was passed.
func Walked(s *workflowv1.RewalkState, r *workflowv1.RewalkPageResult, now time.Time) {
	s.Walk.Walked += r.GetWalked()
	s.Walk.Enqueued += r.GetEnqueued()
	s.Walk.Position = max(s.GetWalk().GetPosition(), r.GetPosition())
	if r.GetEnd() {
		endWalk(s, gnomonv1.Rewalk_DONE, now)
	}
}

// CancelWalk takes that somebody ends a walk; one that has ended stays as it is.
func CancelWalk(s *workflowv1.RewalkState, now time.Time) {
	if s.GetWalk().GetState() == gnomonv1.Rewalk_RUNNING {
		endWalk(s, gnomonv1.Rewalk_CANCELLED, now)
	}
}

func endWalk(s *workflowv1.RewalkState, state gnomonv1.Rewalk_State, now time.Time) {
	s.Walk.State, s.Walk.FinishTime = state, timestamppb.New(now)
}

// Pace spreads what a walk does over time: so many at once, each so long after the one
// before.
type Pace struct {
	// Chunk is how many entities are asked about side by side.
	Chunk int
	// Rate is in entities a second, of all chunks together.
	Rate float64
}

// maxChunk bounds how many questions of a walk are open at once.
const maxChunk = 64

// PaceOf is the pace of a rate: five chunks a second, or fewer where that is enough. A
// chunk takes as long as the slowest that is asked, or told of its visit.
func PaceOf(rate float64) Pace {
	return Pace{Chunk: int(max(1, min(rate/5, maxChunk))), Rate: rate}
}

// After is how long after the beginning so many entities may have been passed.
func (p Pace) After(walked int) time.Duration {
	if p.Rate <= 0 {
		return 0
	}
	return time.Duration(float64(walked) / p.Rate * float64(time.Second))
}

// Chunks cuts a page into chunks.
func (p Pace) Chunks(all []*gnomonv1.Entity) [][]*gnomonv1.Entity {
	return slices.Collect(slices.Chunk(all, max(1, p.Chunk)))
}
