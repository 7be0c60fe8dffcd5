package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/entity"
	"gnomon/outbound"
	"gnomon/stages"
	"gnomon/store"
)

// Process is the activity: one visit of a stage (G-16). It waits for what the stage's
// limits allow, takes the entity's turn (G-25), has the stage work on what stands, and
// commits that, again and again while others change the entity meanwhile (G-22). A
// stage's error is a result, to be repeated later; an error of the activity is one of
// waiting, and tried again soon. A cancellation has it not begin; what has begun ends.
func (e *Entities) Process(ctx context.Context, in *workflowv1.VisitInput) (*workflowv1.VisitResult, error) {
	info := activity.GetInfo(ctx)
	stage := e.Stages.Named(in.GetStage())
	if stage == nil {
		return nil, again("Undeclared", undeclared(in.GetStage()), info.Attempt)
	}
	v := &visit{
		Entities: e, in: in, stage: stage, limits: e.limitsOf(stage), now: e.now(ctx),
		key:    store.EntityKey{Type: in.GetType(), ID: in.GetId()},
		holder: in.GetVisitId() + "#" + uuid.NewString(),
		lease:  max(info.HeartbeatTimeout, minLease),
	}
	if err := stage.Absent(); err != nil && info.Attempt == 1 {
		// Neither a limit nor the entity's turn is taken for what fails at once: a stage that is
		// down costs the others no writes (G-26). An attempt before this may have committed,
		// which only the store knows, so that this is for the first one.
		return failed(err), nil
	}
	v.doing = "begins"
	// What has begun goes on when nobody waits for the visit any more, but not after the
	// worker.
	begun, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		if stopping(ctx) {
			cancel(errStopping)
		}
	})
	defer stop()
	v.lose = cancel
	waiting, noMore := context.WithCancel(ctx)
	defer noMore()
	quiet := v.beat(ctx, begun, noMore)
	defer quiet()
	result, err := v.run(waiting, begun)
	v.giveUp(begun)
	switch {
	case err == nil:
		if len(result.GetFields()) > entity.MaxFields {
			result.Fields = nil // of so many it is not told which
		}
		return result, nil
	case ctx.Err() != nil && !stopping(ctx):
		return nil, temporal.NewCanceledError()
	case errors.Is(err, store.ErrBusy):
		return nil, again("Busy", err, info.Attempt)
	default:
		return nil, again("Unvisited", err, info.Attempt)
	}
}

// failed is the result of a visit whose stage did not do its work.
func failed(err error) *workflowv1.VisitResult {
	return &workflowv1.VisitResult{Error: outbound.Shorten(err.Error(), maxVisitError)}
}

// minLease is for environments without heartbeats.
const minLease = 5 * time.Second

// stopping says whether the worker stops.
func stopping(ctx context.Context) bool {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return true
	default:
		return false
	}
}

// visit is one attempt of a visit under way.
type visit struct {
	*Entities

	in     *workflowv1.VisitInput
	stage  *stages.Declared
	limits *limits
	key    store.EntityKey
	// holder names the attempt.
	holder string
	// lease is how long turn and slot last without being kept: as long as it takes to
	// notice that the worker is lost.
	lease time.Duration
	now   func() time.Time
	// tokens is how many calls were asked for.
	tokens int
	// lose ends what has begun.
	lose context.CancelCauseFunc

	mu sync.Mutex
	// doing is what it does, for people.
	doing string
	// slot is what it has of the stage's parallelism, or may have.
	slot *slot
	// keeping is held while the slot is kept, so that it is not kept any more once it is
	// given up.
	keeping sync.Mutex
	// turn is when it was taken or kept last, zero while it is not held.
	turn time.Time
}

func (v *visit) leased() (at, until time.Time) {
	at = v.now()
	return at, at.Add(v.lease)
}

func (v *visit) run(ctx, begun context.Context) (*workflowv1.VisitResult, error) {
	for {
		result, err := v.try(ctx, begun)
		if !errors.Is(err, store.ErrVersion) {
			return result, err
		}
		// Somebody changed the entity or the state: what the stage made is stale, its timer
		// too, and it works on what stands now (G-22).
	}
}

// try has the stage work once on what stands, and commits.
func (v *visit) try(ctx, begun context.Context) (*workflowv1.VisitResult, error) {
	if v.stage.Parallelism > 0 {
		v.show("waits for a slot")
		got, err := v.limits.slot(ctx, v.holder, v.in.GetBackground(), v.leased)
		// Also if it failed: the store may have given one and not been heard.
		v.mu.Lock()
		v.slot = &got
		v.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	var granted time.Time
	if v.stage.RateLimit > 0 {
		v.show("waits for its rate")
		var err error
		if granted, err = v.limits.token(ctx, v.token(), v.in.GetBackground(), v.clock()); err != nil {
			return nil, err
		}
		if err := pause(ctx, granted.Sub(v.clock()())-turnLead); err != nil {
			return nil, err
		}
	}
	v.show("takes the turn")
	// Read before the call: the turn lasts from then on at least.
	taken := time.Now()
	at, until := v.leased()
	given, err := v.Store.BeginVisit(ctx, store.VisitBegin{
		Key: v.key, Stage: v.stage.Name, VisitID: v.in.GetVisitId(), Holder: v.holder, At: at, Until: until,
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return &workflowv1.VisitResult{Gone: true}, nil
	case errors.Is(err, store.ErrBusy):
		return nil, err
	case err != nil: // it may be ours, and the store not have been heard
		v.hold(taken)
		return nil, err
	case given.Committed != nil: // an attempt before did, and its report was lost (G-11)
		return given.Committed, nil
	}
	v.hold(taken)
	if v.stage.RateLimit > 0 {
		if err := v.inTime(ctx, granted); err != nil {
			return nil, err
		}
	}
	v.show("visits")
	commit, err := v.work(begun, given)
	v.passSlot(begun) // the call is over, and the next need not wait for the commit
	if err != nil {
		if lost := context.Cause(begun); lost != nil {
			return nil, lost
		}
		r := failed(err)
		r.Version = given.Entity.GetVersion()
		return r, nil
	}
	v.show("commits")
	return v.commit(begun, commit)
}

// clock is what the stage's rate goes by.
func (v *visit) clock() func() time.Time {
	if v.RateClock != nil {
		return v.RateClock
	}
	return v.now
}

// token names one more call.
func (v *visit) token() string {
	v.tokens++
	return fmt.Sprintf("%s/%d", v.holder, v.tokens)
}

// inTime waits until the call's time has come. If that is over for too long, as the store
// or the machine was slow, it gets another.
func (v *visit) inTime(ctx context.Context, granted time.Time) (err error) {
	for v.clock()().Sub(granted) > tokenStale {
		if granted, err = v.limits.takeToken(ctx, v.token(), v.clock()); err != nil {
			return err
		}
	}
	return pause(ctx, granted.Sub(v.clock()()))
}

// work calls the stage. Its error is the stage's.
func (v *visit) work(begun context.Context, given store.VisitBegun) (store.VisitCommit, error) {
	ctx, cancel := context.WithTimeout(begun, cmp.Or(v.stage.ProcessTimeout, 30*time.Second))
	defer cancel()
	response, err := v.stage.Process(ctx, &gnomonv1.ProcessRequest{
		Stage: v.stage.Name, Entity: given.Entity, State: given.State, VisitId: v.in.GetVisitId(), Cause: v.in.GetCause(),
	})
	if err != nil {
		return store.VisitCommit{}, err
	}
	update, err := entity.UpdateOf(given.Entity.GetContent(), response)
	if err != nil {
		return store.VisitCommit{}, err
	}
	return store.VisitCommit{
		Key: v.key, Stage: v.stage.Name, VisitID: v.in.GetVisitId(), Holder: v.holder,
		EntityVersion: given.Entity.GetVersion(), StateVersion: given.State.GetVersion(),
		Content: entityOf(given.Entity, update), Delete: update.Delete, State: update.State,
		Result: &workflowv1.VisitResult{Timer: response.GetTimer(), KeepTimer: response.GetKeepTimer()},
	}, nil
}

const (
	// commitTimeout bounds one try to commit.
	commitTimeout = 5 * time.Second
	// commitTries is how often it is tried before another attempt of the visit is.
	commitTries = 5
)

// commit saves what the stage made. Where it is not known whether that was done it is
// done again: a commit recognises itself by its visit (G-11).
func (v *visit) commit(begun context.Context, c store.VisitCommit) (*workflowv1.VisitResult, error) {
	for try := int32(1); ; try++ {
		c.At = v.now()
		ctx, cancel := context.WithTimeout(begun, commitTimeout)
		result, err := v.Store.CommitVisit(ctx, c)
		cancel()
		switch {
		case err == nil:
			v.hold(time.Time{}) // it ended the turn
			return result, nil
		case errors.Is(err, store.ErrNotFound):
			return &workflowv1.VisitResult{Gone: true}, nil
		case errors.Is(err, store.ErrVersion), errors.Is(err, store.ErrTurnLost), try == commitTries:
			return nil, err
		}
		pause := time.NewTimer(soon(try))
		select {
		case <-pause.C:
		case <-begun.Done():
			pause.Stop()
			return nil, context.Cause(begun)
		}
	}
}

// hold takes that the turn was taken or kept at this time, or is not held any more.
func (v *visit) hold(since time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.turn = since
}

func (v *visit) show(doing string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.doing = doing
}

func (v *visit) held() (doing string, turn time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.doing, v.turn
}

// holding is the slot that it has, or nil.
func (v *visit) holding() *slot {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.slot
}

// passSlot gives up the slot, if there is one. If that fails, the lease runs out.
func (v *visit) passSlot(begun context.Context) {
	v.keeping.Lock()
	v.mu.Lock()
	slot := v.slot
	v.slot = nil
	v.mu.Unlock()
	v.keeping.Unlock()
	if slot == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(begun), commitTimeout)
	defer cancel()
	if err := v.limits.release(ctx, *slot); err != nil {
		v.Log.WarnContext(ctx, "A slot could not be given up and has to run out.", "stage", v.stage.Name, "error", err)
	}
}

// giveUp gives back what is, or may be, still held. If that fails, the leases run out.
func (v *visit) giveUp(begun context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(begun), commitTimeout)
	defer cancel()
	_, turn := v.held()
	if !turn.IsZero() {
		v.hold(time.Time{})
		if err := v.Store.EndVisit(ctx, v.key, v.holder); err != nil {
			v.Log.WarnContext(ctx, "A turn could not be given up and has to run out.", "stage", v.stage.Name, "error", err)
		}
	}
	v.passSlot(begun)
}

// beat keeps the attempt alive with the server, and the turn and the slot as its own,
// until the function it returns is called. What has begun is ended before a turn that
// cannot be kept runs out, so that nobody works beside who has it then.
func (v *visit) beat(ctx, begun context.Context, noMore func()) (quiet func()) {
	done := make(chan struct{})
	activity.RecordHeartbeat(ctx, v.doing)
	stop := activity.GetWorkerStopChannel(ctx)
	var beats sync.WaitGroup
	beats.Go(func() {
		ticker := time.NewTicker(v.lease / 4)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-stop: // what waits need not
				noMore()
				stop = nil
				continue
			case <-ticker.C:
			}
			doing, _ := v.held()
			activity.RecordHeartbeat(ctx, doing)
			v.keep(begun)
		}
	})
	return func() {
		close(done)
		beats.Wait()
	}
}

// keep makes turn and slot last longer.
func (v *visit) keep(begun context.Context) {
	call, cancel := context.WithTimeout(begun, v.lease/4)
	defer cancel()
	v.keepSlot(call)
	_, turn := v.held()
	if turn.IsZero() {
		return
	}
	kept := time.Now()
	_, until := v.leased()
	err := v.Store.KeepTurn(call, v.key, v.holder, until)
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.turn.IsZero(): // it has ended meanwhile
	case err == nil:
		v.turn = kept
	case errors.Is(err, store.ErrTurnLost) || time.Since(v.turn) > v.lease/2:
		v.lose(store.ErrTurnLost)
	}
}

// keepSlot makes the slot last longer, if there is one.
func (v *visit) keepSlot(call context.Context) {
	v.keeping.Lock()
	defer v.keeping.Unlock()
	slot := v.holding()
	if slot == nil {
		return
	}
	at, until := v.leased()
	err := v.Store.TakeSlot(call, store.SlotTake{Stage: v.stage.Name, Holder: slot.name, Limit: v.stage.Parallelism, At: at, Until: until})
	switch {
	case errors.Is(err, store.ErrBusy): // it ran out, and all are others' now
		v.lose(err)
	case err != nil && call.Err() == nil:
		v.Log.WarnContext(call, "A slot could not be kept yet.", "stage", v.stage.Name, "error", err)
	}
}
