package entity

import (
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Version is that of the rules. Another one decides otherwise about what came before it,
// and has recordings of its own.
const Version uint32 = 1

// Policy is what an installation may set.
type Policy struct {
	// Patience is how long a visit may wait before the entity's other stages are sent
	// beside it (G-26). Default 1 second.
	Patience time.Duration
	// CascadeCap is how many changes by stages may follow one from outside before the
	// questions about further ones are deferred (G-28). Default 100.
	CascadeCap uint32
	// CascadePause is by how much. Default 1 minute.
	CascadePause time.Duration
	// RetryMin and RetryMax bound the delay after a visit that failed, which doubles from
	// the one to the other (G-10). Default 1 second and 1 hour.
	RetryMin, RetryMax time.Duration
}

// WithDefaults returns the policy with its zero fields filled in.
func (p Policy) WithDefaults() Policy {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	set(&p.Patience, time.Second)
	set(&p.CascadePause, time.Minute)
	set(&p.RetryMin, time.Second)
	set(&p.RetryMax, time.Hour)
	if p.CascadeCap == 0 {
		p.CascadeCap = 100
	}
	return p
}

// PolicyOf is the policy that settings say.
func PolicyOf(s *workflowv1.EntitySettings) Policy {
	return Policy{
		Patience: s.GetPatience().AsDuration(), CascadeCap: s.GetCascadeCap(), CascadePause: s.GetCascadePause().AsDuration(),
		RetryMin: s.GetRetryMin().AsDuration(), RetryMax: s.GetRetryMax().AsDuration(),
	}.WithDefaults()
}

// Changed takes that somebody outside made this version of the entity, and says whether
// that is news: a version that is known already, such as one made by a stage's own
// commit, is not (G-27). Which fields changed is unknown if none is named.
func Changed(s *workflowv1.EntityState, version int64, fields []string) bool {
	if version <= s.GetVersion() {
		return false
	}
	s.Cascade, s.DeferredUntil = 0, nil
	grow(s, version, fields)
	return true
}

// grow takes a new version. If versions between were not heard of, neither were the
// fields that they changed.
func grow(s *workflowv1.EntityState, version int64, fields []string) {
	if version > s.GetVersion()+1 {
		fields = nil
	}
	s.Version, s.Seen = version, nil
	note(s, fields)
}

// MaxFields is how many changed fields are told apart; of more it is not known which.
// They are in histories, and nobody declares an interest in so many.
const MaxFields = 64

// note takes that fields changed; none: it is not known which.
func note(s *workflowv1.EntityState, fields []string) {
	s.ChangedFields = union(s.GetChangedFields(), fields)
	if len(fields) == 0 || len(s.GetChangedFields()) > MaxFields {
		s.AllFields = true
	}
	if s.GetAllFields() {
		s.ChangedFields = nil
	}
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Request takes that a stage is to visit, whatever changed: for a timer, a walk, a
// person. A stage that is pending already is not enqueued again (G-04), but one that
// may be at work visits once more (G-05), and one that waits in the background comes
// forward for a reason that is not (G-31).
func Request(s *workflowv1.EntityState, stage string, cause gnomonv1.ProcessRequest_Cause, background bool, now time.Time) {
	p := pending(s, stage)
	if p == nil {
		s.Pending = append(s.Pending, &workflowv1.PendingVisit{
			Stage: stage, EnqueueTime: timestamppb.New(now), Cause: cause, Background: background,
		})
		s.QueueOwed = true
		return
	}
	if p.GetVisit() != 0 && cause != gnomonv1.ProcessRequest_CHANGE {
		// A change needs no second visit: if this one does not see it, the stage is asked
		// again (see Visited).
		p.Again = true
	}
	if p.GetBackground() && !background {
		p.Background, p.Cause, p.EnqueueTime = false, cause, timestamppb.New(now)
		p.Upgraded = p.GetVisit() != 0
		s.QueueOwed = true
	}
}

// pending is a stage's entry, or nil.
func pending(s *workflowv1.EntityState, stage string) *workflowv1.PendingVisit {
	if i := indexOf(s, stage); i >= 0 {
		return s.GetPending()[i]
	}
	return nil
}

func indexOf(s *workflowv1.EntityState, stage string) int {
	return slices.IndexFunc(s.GetPending(), func(p *workflowv1.PendingVisit) bool { return p.GetStage() == stage })
}

// gone takes that there was no entity when a question about this version was put: nobody
// visits it any more, and what was scheduled finds nothing. If a newer version is known
// by now, it was put again, and all are asked about that.
func gone(s *workflowv1.EntityState, version int64) {
	s.Pending, s.Timers, s.AskAgain, s.Seen, s.ChangedFields = nil, nil, nil, nil, nil
	s.AskedVersion, s.AllFields, s.DeferredUntil, s.Cascade = version, s.GetVersion() > version, nil, 0
	s.QueueOwed = true
}

// Idle says whether nothing is left to do: no stage pending, no timer armed, nobody to
// be asked.
func Idle(s *workflowv1.EntityState) bool {
	return len(s.GetPending()) == 0 && len(s.GetTimers()) == 0 && len(s.GetAskAgain()) == 0 &&
		!s.GetAsking() && s.GetAskedVersion() >= s.GetVersion()
}
