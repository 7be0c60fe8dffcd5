package e2e

import (
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// badIDs are ids that M-06 does not allow, and the rule that each breaks.
var badIDs = map[string]string{
	"":                          "REQUIRED",
	strings.Repeat("x", 201):    "TOO_LONG",
	"a/b":                       "INVALID_CHARACTER",
	"../a":                      "INVALID_CHARACTER",
	".a":                        "INVALID_CHARACTER",
	"заказ-7":                   "INVALID_CHARACTER",
	"ａ":                         "INVALID_CHARACTER",
	"a b":                       "INVALID_CHARACTER",
	"a\nb":                      "INVALID_CHARACTER",
	"a\x00b":                    "INVALID_CHARACTER",
	"a%2Fb":                     "INVALID_CHARACTER",
	"<script>alert(1)</script>": "INVALID_CHARACTER",
}

// badNames are ids, labels and request_ids that are no good, in every method that
// takes them.
func badNames(s *served) []badRequest {
	const labels = "meta.labels"
	rows := []badRequest{
		s.create("label in capitals", labels+`["Team"]`, "INVALID_CHARACTER", labelFault("Team", "a")),
		s.create("label of a digit", labels+`["1a"]`, "INVALID_CHARACTER", labelFault("1a", "a")),
		s.create("label without a key", labels+`[""]`, "REQUIRED", labelFault("", "a")),
		s.create("label key of 64 bytes", labels+`["`+strings.Repeat("k", 64)+`"]`, "TOO_LONG", labelFault(strings.Repeat("k", 64), "a")),
		s.create("label value of 256 bytes", labels+`["team"]`, "TOO_LONG", labelFault("team", strings.Repeat("v", 256))),
		s.create("33 labels", labels, "TOO_MANY", metaFault(func(m *gnomonv1.Meta) { m.Labels = many(33, "v") })),
	}
	for id, reason := range badIDs {
		name := "id " + id[:min(len(id), 20)]
		rows = append(rows, s.create("create "+name, "meta.id", reason, metaFault(func(m *gnomonv1.Meta) { m.Id = id })))
		for method, req := range map[string]proto.Message{
			"get": &gnomonv1.GetActionRequest{Id: id}, "delete": &gnomonv1.DeleteActionRequest{Id: id, AllowMissing: true},
			"pause": &gnomonv1.PauseActionRequest{Id: id}, "resume": &gnomonv1.ResumeActionRequest{Id: id},
			"trigger": &gnomonv1.TriggerActionRequest{Id: id}, "watch": &gnomonv1.WatchActionRequest{Id: id},
			"preview": &gnomonv1.PreviewOccurrencesRequest{Id: id},
		} {
			rows = append(rows, badRequest{
				name: method + " " + name, req: req, field: "id", reason: reason,
				// Without an id it is another path over REST.
				onlyGRPC: id == "" && method != "preview",
			})
		}
		rows = append(rows, badRequest{
			name: "upsert " + name, req: &gnomonv1.UpdateActionRequest{Action: s.once(id, "/ok", time.Hour), AllowMissing: true},
			field: "action.meta.id", reason: reason, onlyGRPC: id == "",
		})
	}
	for id, reason := range map[string]string{
		strings.Repeat("r", 129): "TOO_LONG", "r 1": "MALFORMED", "r\n1": "MALFORMED", "запрос": "MALFORMED", "r\x7f": "MALFORMED",
	} {
		name := reason + "-" + slug(id)[:2]
		for method, req := range map[string]proto.Message{
			"create": &gnomonv1.CreateActionRequest{Action: s.once(s.id("request-"+name), "/ok", time.Hour), RequestId: id},
			"update": &gnomonv1.UpdateActionRequest{Action: s.once(s.id(standing), "/x", time.Hour), RequestId: id},
			"delete": &gnomonv1.DeleteActionRequest{Id: s.id(standing), RequestId: id},
			"pause":  &gnomonv1.PauseActionRequest{Id: s.id(standing), RequestId: id},
		} {
			rows = append(rows, badRequest{name: method + " request_id " + name, req: req, field: "request_id", reason: reason})
		}
	}
	return rows
}
