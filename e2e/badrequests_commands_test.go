package e2e

import (
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Names of the actions that stand while the bad requests are made.
const (
	standing = "standing"
	paused   = "paused"
	// firstRequest is the request_id that standing was created with.
	firstRequest = "first"
)

// badCommands do not fit what stands: etag, state, mask, absence.
func badCommands(s *served) []badRequest {
	id, none, asleep := s.id(standing), s.id("none"), s.id(paused)
	update := func(change func(*gnomonv1.UpdateActionRequest)) proto.Message {
		req := &gnomonv1.UpdateActionRequest{Action: s.once(id, "/new", 2*time.Hour)}
		change(req)
		return req
	}
	var rows []badRequest
	for name, etag := range map[string]string{"another": "5d8b7a52-0000-4000-8000-000000000000", "a blank": " ", "a huge": strings.Repeat("e", 60_000)} {
		for method, req := range map[string]proto.Message{
			"update": update(func(r *gnomonv1.UpdateActionRequest) { r.Etag = etag }),
			"upsert": update(func(r *gnomonv1.UpdateActionRequest) { r.Etag, r.AllowMissing = etag, true }),
			"delete": &gnomonv1.DeleteActionRequest{Id: id, Etag: etag, AllowMissing: true},
			"pause":  &gnomonv1.PauseActionRequest{Id: id, Etag: etag}, "resume": &gnomonv1.ResumeActionRequest{Id: asleep, Etag: etag},
			"trigger": &gnomonv1.TriggerActionRequest{Id: id, Etag: etag},
		} {
			rows = append(rows, badRequest{name: method + " with " + name + " etag", req: req, code: codes.Aborted, reason: "ETAG_MISMATCH"})
		}
	}
	for method, req := range map[string]proto.Message{
		"get": &gnomonv1.GetActionRequest{Id: none}, "get fresh": &gnomonv1.GetActionRequest{Id: none, Fresh: true},
		"update":  &gnomonv1.UpdateActionRequest{Action: s.once(none, "/ok", time.Hour)},
		"upsert":  &gnomonv1.UpdateActionRequest{Action: s.once(none, "/ok", time.Hour), UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"spec"}}},
		"delete":  &gnomonv1.DeleteActionRequest{Id: none},
		"pause":   &gnomonv1.PauseActionRequest{Id: none},
		"resume":  &gnomonv1.ResumeActionRequest{Id: none},
		"trigger": &gnomonv1.TriggerActionRequest{Id: none}, "watch": &gnomonv1.WatchActionRequest{Id: none},
		"preview": &gnomonv1.PreviewOccurrencesRequest{Id: none},
	} {
		rows = append(rows, badRequest{name: method + " of what is not there", req: req, code: codes.NotFound, reason: "ACTION_NOT_FOUND"})
	}
	return append(rows,
		badRequest{name: "resume what is not paused", req: &gnomonv1.ResumeActionRequest{Id: id}, code: codes.FailedPrecondition, reason: "ACTION_NOT_PAUSED"},
		badRequest{name: "trigger what is paused", req: &gnomonv1.TriggerActionRequest{Id: asleep}, code: codes.FailedPrecondition, reason: "ACTION_PAUSED"},
		badRequest{name: "two etags", req: update(func(r *gnomonv1.UpdateActionRequest) {
			r.Etag, r.Action.Meta.Guid = "a", "b"
		}), field: "etag", reason: "CONTRADICTION"},
		badRequest{name: "guid of another", req: update(func(r *gnomonv1.UpdateActionRequest) { r.Action.Meta.Guid = "b" }), code: codes.Aborted, reason: "ETAG_MISMATCH"},
		badRequest{name: "another If-Match", rest: &restCall{
			method: http.MethodDelete, path: "/v1/actions/" + id, header: http.Header{"If-Match": {`"b"`}},
		}, code: codes.Aborted, reason: "ETAG_MISMATCH"},
		badRequest{name: "If-Match without quotes", rest: &restCall{
			method: http.MethodDelete, path: "/v1/actions/" + id, header: http.Header{"If-Match": {"b"}},
		}, field: "If-Match", reason: "MALFORMED"},
	)
}

// badUpdates are updates that are no good whatever stands.
func badUpdates(s *served) []badRequest {
	id := s.id(standing)
	mask := func(name, path string) badRequest {
		return badRequest{name: name, req: &gnomonv1.UpdateActionRequest{
			Action: s.once(id, "/new", time.Hour), UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"spec", path}},
		}, field: "update_mask", reason: "UNKNOWN_PATH"}
	}
	early, labelled, bare := s.once(id, "/new", -11*time.Minute), s.once(id, "/new", time.Hour), s.once(id, "/new", time.Hour)
	labelled.Meta.Labels = map[string]string{"Team": "a"}
	bare.Spec = nil
	onlyLabels := &fieldmaskpb.FieldMask{Paths: []string{"meta.labels"}}
	return []badRequest{
		mask("mask of a part", "spec.action"), mask("mask of status", "status"), mask("mask of the id", "meta.id"), mask("mask of nothing known", "x"),
		{name: "update to 11 minutes ago", req: &gnomonv1.UpdateActionRequest{Action: early}, field: "action.spec.start_policy.start_at", reason: "TOO_EARLY"},
		{name: "update to bad labels", req: &gnomonv1.UpdateActionRequest{Action: labelled, UpdateMask: onlyLabels}, field: `action.meta.labels["Team"]`, reason: "INVALID_CHARACTER"},
		{name: "update to no spec", req: &gnomonv1.UpdateActionRequest{Action: bare, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"spec"}}}, field: "action.spec", reason: "REQUIRED"},
		{
			name: "upsert of labels alone", req: &gnomonv1.UpdateActionRequest{Action: s.once(s.id("labels-alone"), "/ok", time.Hour), UpdateMask: onlyLabels, AllowMissing: true},
			field: "update_mask", reason: "CONTRADICTION",
		},
		{name: "validate a bad update", req: &gnomonv1.UpdateActionRequest{Action: early, ValidateOnly: true}, field: "action.spec.start_policy.start_at", reason: "TOO_EARLY"},
	}
}

// badConflicts meet what stands (M-08, AIP-155).
func badConflicts(s *served) []badRequest {
	id := s.id(standing)
	early := s.once(s.id("validated"), "/ok", -time.Hour)
	return []badRequest{
		{name: "create what stands", req: &gnomonv1.CreateActionRequest{Action: s.once(id, "/new", time.Hour)}, code: codes.AlreadyExists, reason: "ACTION_ALREADY_EXISTS"},
		{name: "create what is paused", req: &gnomonv1.CreateActionRequest{Action: s.once(s.id(paused), "/new", time.Hour)}, code: codes.AlreadyExists, reason: "ACTION_ALREADY_EXISTS"},
		{
			name: "create what stands by another request",
			req:  &gnomonv1.CreateActionRequest{Action: s.once(id, "/new", time.Hour), RequestId: "second"}, code: codes.AlreadyExists, reason: "ACTION_ALREADY_EXISTS",
		},
		{
			name: "another spec under a used request_id",
			req:  &gnomonv1.CreateActionRequest{Action: s.once(id, "/new", time.Hour), RequestId: firstRequest}, field: "request_id", reason: "REQUEST_ID_REUSED",
		},
		{name: "validate what is bad", req: &gnomonv1.CreateActionRequest{Action: early, ValidateOnly: true}, field: "action.spec.start_policy.start_at", reason: "TOO_EARLY"},
	}
}

// badPreviews are previews of what cannot be previewed.
func badPreviews(s *served) []badRequest {
	good := s.once("x", "/ok", time.Hour).GetSpec()
	early := s.once("x", "/ok", -time.Hour).GetSpec()
	none := proto.CloneOf(good)
	none.SendPolicy = nil
	return []badRequest{
		{name: "preview of the past", req: &gnomonv1.PreviewOccurrencesRequest{Spec: early}, field: "spec.start_policy.start_at", reason: "TOO_EARLY"},
		{name: "preview of no policy", req: &gnomonv1.PreviewOccurrencesRequest{Spec: none}, field: "spec.send_policy", reason: "REQUIRED"},
		{name: "preview for a bad id", req: &gnomonv1.PreviewOccurrencesRequest{Id: "a/b", Spec: good}, field: "id", reason: "INVALID_CHARACTER"},
		{name: "preview of -1", req: &gnomonv1.PreviewOccurrencesRequest{Id: s.id(standing), Count: -1}, field: "count", reason: "OUT_OF_RANGE"},
		{name: "preview of 1001", req: &gnomonv1.PreviewOccurrencesRequest{Spec: good, Count: 1001}, field: "count", reason: "OUT_OF_RANGE"},
		{
			name: "preview after no time", req: &gnomonv1.PreviewOccurrencesRequest{Spec: good, After: &timestamppb.Timestamp{Nanos: -1}}, field: "after", reason: "INVALID_TIMESTAMP",
			rest: &restCall{method: http.MethodPost, path: "/v1/actions:previewOccurrences", body: `{"after":"soon"}`}, restReason: "BAD_VALUE",
		},
	}
}
