package action

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	gnomonv1 "gnomon/api/gnomon/v1"
)

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
}

func (v *violations) http(field string, r *gnomonv1.HttpRequest) {
	if !slices.Contains(methods, httpMethod(r)) {
		v.add(field+".method", RuleUnsupported, "method must be one of %s", strings.Join(methods, ", "))
	}
	v.shared().URL(field+".url", r.GetUrl())
	v.shared().Headers(field+".headers", r.GetHeaders())
	if size := len(r.GetBody()); size > MaxBodySize {
		v.add(field+".body", RuleTooLong, "body is %d bytes long, at most %d are allowed", size, MaxBodySize)
	}
	for i, s := range r.GetAcceptedStatus() {
		v.statusRange(fmt.Sprintf("%s.accepted_status[%d]", field, i), s)
	}
	v.duration(field+".timeout", r.GetTimeout(), 0, MaxPerformTimeout)
}

func (v *violations) statusRange(field string, s *gnomonv1.HttpRequest_StatusRange) {
	if first := s.GetFirst(); first < 100 || first > 599 {
		v.add(field+".first", RuleOutOfRange, "first must be from 100 to 599")
		return
	}
	if last := s.GetLast(); last != 0 && (last < s.GetFirst() || last > 599) {
		v.add(field+".last", RuleOutOfRange, "last must be 0 or from first to 599")
	}
}
