package starter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/reflect/protoreflect"

	"gnomon/action"
)

// restRequests checks requests before the gateway decodes them: it ignores unknown
// parameters, does not tell which field of a body is wrong, and reads bodies of
// any size.
type restRequests struct {
	rules       map[string]httpRule
	limit       int           // of a body, in bytes
	callTimeout time.Duration // of calls that are no streams
	mux         *runtime.ServeMux
}

// check is the middleware around each method.
func (c *restRequests) check(next runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, path map[string]string) {
		pattern, _ := runtime.HTTPPattern(r.Context())
		rule := c.rules[r.Method+" "+strings.ReplaceAll(pattern.String(), "=*}", "}")]
		if err := c.prepare(w, r, rule, path); err != nil {
			writeError(r.Context(), c.mux, jsonMarshaler(c.mux, r), w, r, err)
			return
		}
		next(w, r, path)
	}
}

// prepare checks a request and completes it with what HTTP says in other ways.
func (c *restRequests) prepare(w http.ResponseWriter, r *http.Request, rule httpRule, path map[string]string) error {
	if rule.input == nil {
		return refuse(codes.Unimplemented, "METHOD_NOT_ALLOWED", "this method is not known", nil)
	}
	for name, value := range path {
		if !utf8.ValidString(value) {
			return invalidField(name, ruleNotUTF8, "must be UTF-8")
		}
	}
	query, err := checkQuery(r.URL.RawQuery, rule)
	if err != nil {
		return err
	}
	body, err := c.readBody(w, r, rule)
	if err != nil {
		return err
	}
	if err := checkBody(body, rule); err != nil {
		return err
	}
	if err := ifMatch(r.Header, rule, query); err != nil {
		return err
	}
	if r.Method == http.MethodPatch {
		if err := patchMask(body, query); err != nil {
			return err
		}
	}
	r.URL.RawQuery = query.Encode()
	return nil
}

// readBody reads the whole body within its limits of time and size, and leaves it
// to be read again.
func (c *restRequests) readBody(w http.ResponseWriter, r *http.Request, rule httpRule) ([]byte, error) {
	// The deadlines are the connection's and outlive the request, so both are set
	// anew each time. They are not to be had only in tests without a connection.
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(readBodyTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(c.limit)))
	_ = connection.SetReadDeadline(time.Time{})
	if rule.streams {
		_ = connection.SetWriteDeadline(time.Time{})
	} else {
		_ = connection.SetWriteDeadline(time.Now().Add(c.callTimeout + writeTimeout))
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, errTooLarge(c.limit)
	}
	if err != nil {
		return nil, refuse(codes.Canceled, reasonCancelled, "the body did not arrive", nil).because(err)
	}
	body = bytes.TrimSpace(body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// checkQuery refuses parameters that the method does not know or cannot read.
func checkQuery(raw string, rule httpRule) (url.Values, error) {
	query, err := url.ParseQuery(raw)
	if err != nil || !utf8.ValidString(raw) {
		return nil, invalidField("query", ruleMalformed, "the query of the URL cannot be read")
	}
	for _, key := range slices.Sorted(maps.Keys(query)) {
		field := findField(rule.input.Descriptor(), key)
		if field == nil || rule.bodyField == "*" || string(field.Name()) == rule.bodyField || rule.pathFields[string(field.Name())] {
			return nil, invalidField(clip(key, 64), ruleUnknownField, "this method has no such parameter")
		}
		if !utf8.ValidString(strings.Join(query[key], "")) {
			return nil, invalidField(string(field.Name()), ruleNotUTF8, "must be UTF-8")
		}
		err := new(runtime.DefaultQueryParser).Parse(rule.input.New().Interface(), url.Values{key: query[key]}, &utilities.DoubleArray{})
		if err != nil {
			return nil, invalidField(string(field.Name()), ruleBadValue, fmt.Sprintf("must be one %s", kindName(field)))
		}
	}
	return query, nil
}

// kindName is the type of a field for people.
func kindName(field protoreflect.FieldDescriptor) string {
	if message := field.Message(); message != nil {
		return string(message.Name())
	}
	return field.Kind().String()
}

// ifMatch takes the entity tag of the header If-Match as the parameter etag
// (RFC 9110, 13.1.1), for the methods that have one outside their body.
func ifMatch(header http.Header, rule httpRule, query url.Values) error {
	tag := header.Get("If-Match")
	if tag == "" || tag == "*" || rule.bodyField == "*" || findField(rule.input.Descriptor(), "etag") == nil {
		return nil
	}
	guid, opened := strings.CutPrefix(tag, `"`)
	guid, closed := strings.CutSuffix(guid, `"`)
	if !opened || !closed || strings.ContainsAny(guid, `",`) || len(header.Values("If-Match")) > 1 {
		return invalidField("If-Match", ruleMalformed, "must be one entity tag in quotes")
	}
	if other := query.Get("etag"); other != "" && other != guid {
		return invalidField("etag", ruleContradiction, "must be the same as If-Match")
	}
	query.Set("etag", guid)
	return nil
}

// patchMask fills in the update mask of a PATCH that has none: it replaces what its
// body holds, the spec, the labels or both. The gateway would make one of every
// leaf of the body, such as spec.start_policy.start_at.
func patchMask(body []byte, query url.Values) error {
	if query.Get("updateMask") != "" || query.Get("update_mask") != "" {
		return nil
	}
	query.Del("update_mask")
	var held struct {
		Spec json.RawMessage `json:"spec"`
		Meta struct {
			Labels json.RawMessage `json:"labels"`
		} `json:"meta"`
	}
	if len(body) > 0 {
		// checkBody has found the shape to be right.
		if err := json.Unmarshal(body, &held); err != nil {
			return invalidField("body", ruleMalformedJSON, "must be an action")
		}
	}
	var paths []string
	if isSet(held.Spec) {
		paths = append(paths, pathSpec)
	}
	if isSet(held.Meta.Labels) {
		paths = append(paths, pathLabels)
	}
	if len(paths) == 0 {
		return invalidField("action", action.RuleRequired, "must hold a spec or meta.labels to replace what stands, or the parameter updateMask must say what to replace")
	}
	query.Set("updateMask", strings.Join(paths, ","))
	return nil
}

// isSet says whether a member of an object is there and not null.
func isSet(value json.RawMessage) bool {
	return len(value) > 0 && string(value) != "null"
}
