package cli

import (
	"context"
	"errors"
	"maps"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// applier makes one action at a time be as a document says.
type applier struct {
	session *session
	client  gnomonv1.ActionServiceClient
	dryRun  bool
	fresh   bool
}

func (a applier) apply(ctx context.Context, d document) outcome {
	if d.err != nil {
		return outcome{document: d, result: resultFailed, err: d.err}
	}
	result, action, err := a.upsert(ctx, asked(d.action))
	if err != nil {
		result = resultFailed
	}
	return outcome{document: d, result: result, action: action, err: err}
}

func (a applier) upsert(ctx context.Context, want *gnomonv1.ScheduledAction) (applyResult, *gnomonv1.ScheduledAction, error) {
	if want.GetMeta().GetId() == "" {
		return "", nil, errors.New("meta.id must be set")
	}
	stands, err := getAction(ctx, a.session, a.client, &gnomonv1.GetActionRequest{Id: want.GetMeta().GetId(), Fresh: a.fresh})
	now := a.session.env.now()
	switch {
	case status.Code(err) == codes.NotFound:
		startNow(want.GetSpec(), now)
		created, err := a.update(ctx, want, a.dryRun)
		return resultCreated, created, err
	case err != nil:
		return "", nil, err
	}
	keepsStart := want.GetSpec().GetStartPolicy().GetStartAt() == nil
	if keepsStart {
		startNow(want.GetSpec(), stands.GetSpec().GetStartPolicy().GetStartAt().AsTime())
	}
	if a.same(ctx, want, stands, now) {
		return resultUnchanged, stands, nil
	}
	if keepsStart {
		carryStart(want.GetSpec(), now)
	}
	changed, err := a.update(ctx, want, a.dryRun)
	return resultChanged, changed, err
}

func (a applier) update(ctx context.Context, want *gnomonv1.ScheduledAction, validateOnly bool) (*gnomonv1.ScheduledAction, error) {
	ctx, cancel := a.session.call(ctx)
	defer cancel()
	return a.client.UpdateAction(ctx, &gnomonv1.UpdateActionRequest{
		Action: want, AllowMissing: true, ValidateOnly: validateOnly,
	})
}

// same says whether want is what stands already. The server fills in defaults when
// it accepts a spec (M-19), so where the two differ it is asked, without changing
// anything, what it would make of want. It is asked with a start of now, since one
// that has passed would be refused (M-11); an answer that does not show that start
// is not about what was asked and decides nothing.
func (a applier) same(ctx context.Context, want, stands *gnomonv1.ScheduledAction, now time.Time) bool {
	if !maps.Equal(want.GetMeta().GetLabels(), stands.GetMeta().GetLabels()) {
		return false
	}
	if proto.Equal(want.GetSpec(), stands.GetSpec()) {
		return true
	}
	start := stands.GetSpec().GetStartPolicy().GetStartAt()
	if !startOf(want).Truncate(storePrecision).Equal(startOf(stands).Truncate(storePrecision)) {
		return false
	}
	probe := proto.CloneOf(want)
	probe.Spec.StartPolicy.StartAt = timestamppb.New(now.Truncate(time.Second))
	if startOf(probe).Equal(start.AsTime()) {
		probe.Spec.StartPolicy.StartAt = timestamppb.New(now.Truncate(time.Second).Add(time.Second))
	}
	reply, err := a.update(ctx, probe, true)
	if err != nil || !startOf(reply).Equal(startOf(probe)) {
		return false
	}
	filled := cloneSpec(reply.GetSpec())
	filled.StartPolicy.StartAt = start
	return proto.Equal(filled, stands.GetSpec())
}

// storePrecision is what the server cuts times to.
const storePrecision = time.Microsecond

func startOf(action *gnomonv1.ScheduledAction) time.Time {
	return action.GetSpec().GetStartPolicy().GetStartAt().AsTime()
}
