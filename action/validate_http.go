package action

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	gnomonv1 "gnomon/api/gnomon/v1"
)

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
}

// reservedHeaders are set by gnomon for every attempt or belong to one connection, in
// lower case. Headers that begin with reservedPrefix are reserved too.
var reservedHeaders = []string{
	"connection", "content-length", "host", "idempotency-key", "keep-alive", "proxy-connection",
	"te", "trailer", "transfer-encoding", "upgrade",
}

const reservedPrefix = "gnomon-"

func (v *violations) http(field string, r *gnomonv1.HttpRequest) {
	if !slices.Contains(methods, httpMethod(r)) {
		v.add(field+".method", RuleUnsupported, "method must be one of %s", strings.Join(methods, ", "))
	}
	v.url(field+".url", r.GetUrl())
	v.headers(field+".headers", r.GetHeaders())
	if size := len(r.GetBody()); size > MaxBodySize {
		v.add(field+".body", RuleTooLong, "body is %d bytes long, at most %d are allowed", size, MaxBodySize)
	}
	for i, s := range r.GetAcceptedStatus() {
		v.statusRange(fmt.Sprintf("%s.accepted_status[%d]", field, i), s)
	}
	v.duration(field+".timeout", r.GetTimeout(), 0, MaxPerformTimeout)
}

func (v *violations) url(field, raw string) {
	switch {
	case raw == "":
		v.add(field, RuleRequired, "url must be set")
		return
	case len(raw) > MaxURLLength:
		v.add(field, RuleTooLong, "url is %d bytes long, at most %d are allowed", len(raw), MaxURLLength)
		return
	case strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' }):
		v.add(field, RuleInvalidCharacter, "url may have visible ASCII characters only; others are percent-encoded, in the host by Punycode")
		return
	}
	// No error of the parser is passed on: it would show the URL, which may hold a
	// token.
	u, err := parseURL(raw)
	switch {
	case err != nil:
		v.add(field, RuleInvalidURL, "url must be a valid URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		v.add(field, RuleInvalidURL, "url must be an absolute http or https URL with a host")
	case !validPort(u.Port()):
		v.add(field, RuleInvalidURL, "the port of url must be from 1 to 65535")
	case u.User != nil:
		v.add(field, RuleInvalidURL, "url must not have user info; use the header Authorization")
	case strings.Contains(raw, "#"):
		v.add(field, RuleInvalidURL, "url must not have a fragment")
	}
}

// parseURL is url.Parse, whose result depends on nothing but its argument. The checker
// sees that it may intern the zone of an IPv6 address, which starts a goroutine.
//
//workflowcheck:ignore
func parseURL(raw string) (*url.URL, error) {
	return url.Parse(raw)
}

func validPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

func (v *violations) headers(field string, headers map[string]string) {
	if len(headers) > MaxHeaders {
		v.add(field, RuleTooMany, "there are %d headers, at most %d are allowed", len(headers), MaxHeaders)
		return
	}
	seen := make(map[string]bool, len(headers))
	for _, name := range sortedKeys(headers) {
		v.header(entry(field, name), name, headers[name])
		lower := strings.ToLower(name)
		if seen[lower] {
			v.add(entry(field, name), RuleDuplicate, "the header is there twice, names are not case-sensitive")
		}
		seen[lower] = true
	}
}

func (v *violations) header(field, name, value string) {
	lower := strings.ToLower(name)
	switch {
	case name == "":
		v.add(field, RuleRequired, "the name of a header must not be empty")
	case strings.ContainsFunc(name, func(r rune) bool { return !isTokenCharacter(r) }):
		v.add(field, RuleInvalidCharacter, "the name of a header must be a token of RFC 9110")
	case slices.Contains(reservedHeaders, lower) || strings.HasPrefix(lower, reservedPrefix):
		v.add(field, RuleReserved, "the header cannot be set by a spec")
	}
	if len(value) > MaxHeaderValueLength {
		v.add(field, RuleTooLong, "the value of a header is %d bytes long, at most %d are allowed", len(value), MaxHeaderValueLength)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		v.add(field, RuleInvalidCharacter, "the value of a header must not have control characters")
	}
}

func isTokenCharacter(r rune) bool {
	return isLetter(r) || isDigit(r) || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
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
