package rule

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// reservedHeaders are set by gnomon for every attempt or belong to one connection, in
// lower case. Headers that begin with reservedPrefix are reserved too.
var reservedHeaders = []string{
	"connection", "content-length", "host", "idempotency-key", "keep-alive", "proxy-connection",
	"te", "trailer", "transfer-encoding", "upgrade",
}

const reservedPrefix = "gnomon-"

// URL checks an absolute http or https URL: visible ASCII, a host, no user info, no
// fragment, at most 2,048 bytes.
func (v *Violations) URL(field, raw string) {
	switch {
	case raw == "":
		v.Add(field, Required, "url must be set")
		return
	case len(raw) > MaxURLLength:
		v.Add(field, TooLong, "url is %d bytes long, at most %d are allowed", len(raw), MaxURLLength)
		return
	case strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' }):
		v.Add(field, InvalidCharacter, "url may have visible ASCII characters only; others are percent-encoded, in the host by Punycode")
		return
	}
	// No error of the parser is passed on: it would show the URL, which may hold a
	// token.
	u, err := ParseURL(raw)
	switch {
	case err != nil:
		v.Add(field, InvalidURL, "url must be a valid URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		v.Add(field, InvalidURL, "url must be an absolute http or https URL with a host")
	case !validPort(u.Port()):
		v.Add(field, InvalidURL, "the port of url must be from 1 to 65535")
	case u.User != nil:
		v.Add(field, InvalidURL, "url must not have user info; use the header Authorization")
	case strings.Contains(raw, "#"):
		v.Add(field, InvalidURL, "url must not have a fragment")
	}
}

// ParseURL is url.Parse, whose result depends on nothing but its argument. The checker
// sees that it may intern the zone of an IPv6 address, which starts a goroutine.
//
//workflowcheck:ignore
func ParseURL(raw string) (*url.URL, error) {
	return url.Parse(raw)
}

func validPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// Headers checks headers that a spec sets: at most 64; names are tokens of RFC 9110, each
// in one spelling and none that gnomon or the connection sets; values have at most 4,096
// bytes and no control characters.
func (v *Violations) Headers(field string, headers map[string]string) {
	if len(headers) > MaxHeaders {
		v.Add(field, TooMany, "there are %d headers, at most %d are allowed", len(headers), MaxHeaders)
		return
	}
	seen := make(map[string]bool, len(headers))
	for _, name := range sortedKeys(headers) {
		v.header(entry(field, name), name, headers[name])
		lower := strings.ToLower(name)
		if seen[lower] {
			v.Add(entry(field, name), Duplicate, "the header is there twice, names are not case-sensitive")
		}
		seen[lower] = true
	}
}

func (v *Violations) header(field, name, value string) {
	lower := strings.ToLower(name)
	switch {
	case name == "":
		v.Add(field, Required, "the name of a header must not be empty")
	case strings.ContainsFunc(name, func(r rune) bool { return !isTokenCharacter(r) }):
		v.Add(field, InvalidCharacter, "the name of a header must be a token of RFC 9110")
	case slices.Contains(reservedHeaders, lower) || strings.HasPrefix(lower, reservedPrefix):
		v.Add(field, Reserved, "the header cannot be set by a spec")
	}
	if len(value) > MaxHeaderValueLength {
		v.Add(field, TooLong, "the value of a header is %d bytes long, at most %d are allowed", len(value), MaxHeaderValueLength)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		v.Add(field, InvalidCharacter, "the value of a header must not have control characters")
	}
}

func isTokenCharacter(r rune) bool {
	return isLetter(r) || isDigit(r) || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}
