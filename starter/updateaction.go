package starter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action"
	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// UpdateAction implements the service: a new spec is a new incarnation with a new
// Guid (M-07, M-42).
func (s *Actions) UpdateAction(ctx context.Context, req *gnomonv1.UpdateActionRequest) (*gnomonv1.ScheduledAction, error) {
	now := s.Now()
	paths, err := updatePaths(req.GetUpdateMask())
	if err != nil {
		return nil, err
	}
	etag, err := updateEtag(req)
	if err != nil {
		return nil, err
	}
	whole := slices.Contains(paths, pathSpec) && slices.Contains(paths, pathLabels)
	if req.GetAllowMissing() && !slices.Contains(paths, pathSpec) {
		return nil, invalidField("update_mask", ruleContradiction, "allow_missing needs the spec, which the mask leaves out")
	}
	bad := append(under("action", s.validateUpdate(req.GetAction(), paths, now)), requestIDRule(req.GetRequestId())...)
	if err := invalid(bad, ""); err != nil {
		return nil, err
	}
	a := action.Normalise(req.GetAction())
	d := digest(a, paths)
	a.Meta.Guid = mint(a.GetMeta().GetId(), req.GetRequestId(), d)
	c := &workflowv1.Command{
		Id: commandID(req.GetRequestId()), Etag: etag, Action: a, Revive: req.GetAllowMissing(),
		AcceptTime: timestamppb.New(now), Digest: d,
	}
	if !whole {
		c.Paths = paths
	}
	switch {
	case req.GetValidateOnly():
		return created(life.New(a, now, "")), nil
	case req.GetAllowMissing():
		return s.upsert(ctx, a, c, paths, now)
	}
	result, applied, err := s.command(ctx, a.GetMeta().GetId(), workflowv1.CommandUpdate, c)
	if err != nil {
		return nil, err
	}
	if applied {
		return ownUpdate(result.GetAction(), a, paths, now), nil
	}
	return s.left(a, now), nil
}

// upsert changes the action or, where none is alive, creates it.
func (s *Actions) upsert(ctx context.Context, a *gnomonv1.ScheduledAction, c *workflowv1.Command, paths []string, now time.Time) (*gnomonv1.ScheduledAction, error) {
	id := a.GetMeta().GetId()
	st := life.New(a, now, c.GetId())
	// A run that starts with the command has applied it.
	st.AppliedCommands = []string{life.AppliedEntry(c)}
	for {
		result, err := s.updateOrStart(ctx, st, c)
		switch {
		case err == nil:
			s.mirrorResult(ctx, result)
			return ownUpdate(result.GetAction(), a, paths, now), nil
		case errors.Is(err, errNoWorker):
			if err := s.etagOfRow(ctx, id, c.GetEtag()); err != nil {
				return nil, err
			}
			run, err := s.Client.SignalWithStartWorkflow(ctx, workflowv1.WorkflowID(id), workflowv1.CommandUpdate, c,
				s.startOptions(st), workflowv1.ActionWorkflow, st)
			if err != nil {
				return nil, fromTemporal(err, id)
			}
			reply := created(st)
			s.mirrorNew(ctx, reply, run.GetRunID())
			s.notApplied(reply)
			return reply, nil
		case refusedAs(err) != "" || !closedMeanwhile(err):
			return nil, s.refusal(id, err)
		}
		if err := pauseFor(ctx, closingPause); err != nil {
			return nil, fromContext(err)
		}
	}
}

// closedMeanwhile says that the run closed between the two halves of a call.
func closedMeanwhile(err error) bool {
	return missing(err) || temporalCode(err) == codes.Aborted
}

// left is the reply to an update that was only left with Temporal.
func (s *Actions) left(a *gnomonv1.ScheduledAction, now time.Time) *gnomonv1.ScheduledAction {
	reply := created(life.New(a, now, ""))
	s.notApplied(reply)
	return reply
}

// validateUpdate checks what the mask names.
func (s *Actions) validateUpdate(a *gnomonv1.ScheduledAction, paths []string, now time.Time) []action.Violation {
	if len(paths) == 2 {
		return action.Validate(a, now, s.rules())
	}
	bad := action.ValidateID("meta.id", a.GetMeta().GetId())
	if slices.Contains(paths, pathSpec) {
		return append(bad, action.ValidateSpec(a.GetSpec(), now, s.rules())...)
	}
	return append(bad, action.ValidateLabels(pathLabels, a.GetMeta().GetLabels())...)
}

// updateEtag is the Guid the caller has seen: etag or meta.guid, which must agree.
func updateEtag(req *gnomonv1.UpdateActionRequest) (string, error) {
	etag, guid := req.GetEtag(), req.GetAction().GetMeta().GetGuid()
	if etag != "" && guid != "" && etag != guid {
		return "", invalidField("etag", ruleContradiction, "differs from action.meta.guid")
	}
	if etag == "" {
		return guid, nil
	}
	return etag, nil
}

// digest tells one update from another under the same request_id.
func digest(a *gnomonv1.ScheduledAction, paths []string) string {
	bare := &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: a.GetMeta().GetId(), Labels: a.GetMeta().GetLabels()}, Spec: a.GetSpec()}
	// Only facades compare digests, soon after one another; should two builds encode
	// differently, a repeated call is refused and nothing is done twice.
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(bare)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append(encoded, strings.Join(paths, ",")...))
	return hex.EncodeToString(sum[:8])
}
