package entity

import (
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Visited takes how a visit ended and says whether it was one that was waited for: a
// visit that was called back counts no more.
//
// What the visit saw or made was one version. If the entity is newer, the stage is asked
// about that, as it was not while it was pending (G-05); if the visit made it, all
// others are asked (G-23). Content that did not change is no new version and asks
// nobody, though the timer is kept, replaced or gone (G-24, G-16).
func Visited(p Policy, s *workflowv1.EntityState, stage string, visit uint64, r *workflowv1.VisitResult, now time.Time) bool {
	i := indexOf(s, stage)
	if i < 0 || s.GetPending()[i].GetVisit() != visit {
		return false
	}
	p = p.WithDefaults()
	entry := s.GetPending()[i]
	free(entry)
	if r.GetError() != "" && !r.GetGone() {
		// Its row stays as it is: a stage that is down costs nobody a write for each try (G-26).
		entry.Failures++
		entry.Error, entry.Again = r.GetError(), false
		entry.NotBefore = timestamppb.New(now.Add(p.retryDelay(entry.GetFailures())))
		return true
	}
	s.QueueOwed = true
	if r.GetGone() {
		// It may have been put again since the visit looked, and all others have been asked
		// about that: a question to this one finds out.
		s.Pending = slices.Delete(s.GetPending(), i, i+1)
		disarm(s, stage)
		s.AskAgain = union(s.GetAskAgain(), []string{stage})
		return true
	}
	s.Pending = slices.Delete(s.GetPending(), i, i+1)
	saw(p, s, stage, r, now)
	if r.GetTimer() != nil {
		Arm(s, stage, r.GetTimer())
	} else if !r.GetKeepTimer() {
		disarm(s, stage)
	}
	if entry.GetAgain() {
		Request(s, stage, gnomonv1.ProcessRequest_REQUEST, false, now)
	}
	return true
}

// saw takes the version that a visit worked on or made.
func saw(p Policy, s *workflowv1.EntityState, stage string, r *workflowv1.VisitResult, now time.Time) {
	if s.GetVersion() == 0 && !r.GetChanged() {
		// A walk or a timer's visit without any change that is known: whoever made the
		// version tells of it, or has.
		return
	}
	if r.GetVersion() > s.GetVersion() {
		// If it is not one more than what was known, others changed it before, which it has
		// seen, and nobody else has heard of.
		grow(s, r.GetVersion(), r.GetFields())
	}
	if r.GetChanged() {
		s.Cascade++
		if s.GetCascade() > p.CascadeCap {
			s.DeferredUntil = timestamppb.New(now.Add(p.CascadePause))
		}
	}
	if r.GetVersion() == s.GetVersion() {
		s.Seen = union(s.GetSeen(), []string{stage})
		return
	}
	s.AskAgain = union(s.GetAskAgain(), []string{stage})
}

func (p Policy) retryDelay(failures uint32) time.Duration {
	delay := p.RetryMin
	for range failures - 1 {
		if delay *= 2; delay >= p.RetryMax {
			return p.RetryMax
		}
	}
	return min(delay, p.RetryMax)
}

// CalledBack takes that a visit that had been scheduled ended without having been made:
// its entry waits to be scheduled anew.
func CalledBack(s *workflowv1.EntityState, stage string, visit uint64) {
	if p := pending(s, stage); p != nil && p.GetVisit() == visit {
		free(p)
	}
}

// free takes that no visit of an entry is on its way any more.
func free(p *workflowv1.PendingVisit) { p.Visit, p.ScheduledTime, p.Upgraded = 0, nil, false }

// due are the visits to be scheduled now and when to look again, or the zero time.
// While none is on its way, the oldest goes alone, real changes before the background;
// after Patience the others go too, so that the queue of one stage holds up no other
// (G-26).
func due(p Policy, s *workflowv1.EntityState, now time.Time) (visits []*workflowv1.PendingVisit, again time.Time) {
	var ready []*workflowv1.PendingVisit
	var latest time.Time
	onTheWay := false
	for _, entry := range s.GetPending() {
		switch {
		case entry.GetVisit() != 0:
			onTheWay = true
			if at := entry.GetScheduledTime().AsTime(); at.After(latest) {
				latest = at
			}
		case now.Before(entry.GetNotBefore().AsTime()):
			again = earlier(again, entry.GetNotBefore().AsTime())
		default:
			ready = append(ready, entry)
		}
	}
	slices.SortStableFunc(ready, byTurn)
	switch {
	case len(ready) == 0:
	case !onTheWay:
		visits = ready[:1]
		if len(ready) > 1 {
			again = earlier(again, now.Add(p.Patience))
		}
	case now.Before(latest.Add(p.Patience)):
		again = earlier(again, latest.Add(p.Patience))
	default:
		visits = ready
	}
	for _, entry := range visits {
		s.Visits++
		entry.Visit, entry.ScheduledTime = s.GetVisits(), timestamppb.New(now)
		entry.Again = false
	}
	return visits, again
}

// byTurn orders what is pending: real changes first, then by age, then by name.
func byTurn(a, b *workflowv1.PendingVisit) int {
	if a.GetBackground() != b.GetBackground() {
		if a.GetBackground() {
			return 1
		}
		return -1
	}
	if c := a.GetEnqueueTime().AsTime().Compare(b.GetEnqueueTime().AsTime()); c != 0 {
		return c
	}
	if a.GetStage() < b.GetStage() {
		return -1
	}
	return 1
}
