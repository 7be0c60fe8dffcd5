package httpchange_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes"
	"gnomon/changes/httpchange"
	"gnomon/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var batch = changes.Batch{ID: "release:7", UID: "uid-1", ScheduledAt: time.Date(2026, 11, 21, 11, 0, 0, 120, time.FixedZone("", 3600))}

func kind(t *testing.T) *httpchange.Kind {
	t.Helper()
	k, err := httpchange.New(outbound.HTTPConfig{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, k.Close()) })
	return k
}

// serve starts a service.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// reply is a service that always answers the same.
func reply(t *testing.T, status int, body string, header ...string) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

func subject(index int, c *gnomonv1.HttpChange) changes.Subject {
	return changes.Subject{Index: index, Change: &gnomonv1.Change{Change: &gnomonv1.Change_HttpChange{HttpChange: c}}}
}

func turn() changes.Turn {
	now := time.Now()
	return changes.Turn{Key: "release:7/uid-1/3", Attempt: 2, Resumed: true, Begun: now, Expires: now.Add(time.Minute)}
}

// HttpChange: what both requests carry, to the byte.
func TestRequests(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var text string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, text = r, string(b)
		_, _ = io.WriteString(w, `{"hard": []}`)
	})
	body, err := structpb.NewValue(map[string]any{"b": "<&>", "a": []any{1, 2.5, nil, true}})
	require.NoError(t, err)
	c := &gnomonv1.HttpChange{
		ValidateUrl: url + "/validate?x=1", ApplyUrl: url + "/apply", Body: body,
		Headers: map[string]string{"X-Own": "yes", "gnomon-batch-id": "mine", "Content-Type": "application/vnd.own+json"},
	}
	k := kind(t)
	both := http.Header{
		"Gnomon-Batch-Id": {"release:7"}, "Gnomon-Batch-Uid": {"uid-1"}, "Gnomon-Change-Index": {"3"},
		"X-Own": {"yes"}, "User-Agent": {"gnomon"}, "Content-Type": {"application/vnd.own+json"},
		"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "Content-Length": {"33"},
	}
	problems, err := k.Validate(t.Context(), batch, []changes.Subject{subject(3, c)})
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Equal(t, "POST /validate?x=1", got.Method+" "+got.URL.RequestURI())
	require.Equal(t, both, got.Header)
	require.Equal(t, `{"a":[1,2.5,null,true],"b":"<&>"}`, text) //nolint:testifylint // to the byte

	at := turn()
	require.NoError(t, k.Apply(t.Context(), batch, subject(3, c), at))
	require.Equal(t, "POST /apply", got.Method+" "+got.URL.RequestURI())
	both.Set("Idempotency-Key", "release:7/uid-1/3")
	both.Set("Gnomon-Attempt", "2")
	both.Set("Gnomon-Scheduled-At", "2026-11-21T10:00:00.00000012Z")
	both.Set("Gnomon-Expires", at.Expires.UTC().Format(time.RFC3339Nano))
	require.Equal(t, both, got.Header)

	c.Body = nil
	require.NoError(t, k.Apply(t.Context(), batch, subject(3, c), at))
	require.Equal(t, "null", text)
}

// V-03: what a service answers are problems of the change, in all forms.
func TestValidate(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string][]string{
		`{"hard": [], "soft": []}`:                                  nil,
		`{"hard": []}`:                                              nil,
		`{"soft": [], "more": 1}`:                                   nil,
		`{"hard": ["no such order"]}`:                               {"HARD REFUSED_BY_SERVICE no such order"},
		`{"soft": ["it is Friday"]}`:                                {"SOFT REFUSED_BY_SERVICE it is Friday"},
		`{"hard": [{"code": "NO_ORDER", "message": "none"}, ""]}`:   {"HARD NO_ORDER none", "HARD REFUSED_BY_SERVICE the service says no more"},
		`{"hard": [{"code": "no code", "message": "a\u0000b€"}]}`:   {"HARD REFUSED_BY_SERVICE a b€"},
		`{"hard": ["` + strings.Repeat("€", 1000) + `"]}`:           {"HARD REFUSED_BY_SERVICE " + strings.Repeat("€", 340) + "…"},
		`{"hard": ["a"], "soft": ["b", {"code": "C", "extra": 1}]}`: {"HARD REFUSED_BY_SERVICE a", "SOFT REFUSED_BY_SERVICE b", "SOFT C the service says no more"},
	} {
		t.Run(answer[:min(40, len(answer))], func(t *testing.T) {
			t.Parallel()
			require.True(t, json.Valid([]byte(answer)))
			found, err := kind(t).Validate(t.Context(), batch, []changes.Subject{subject(5, &gnomonv1.HttpChange{ValidateUrl: reply(t, 200, answer)})})
			require.NoError(t, err)
			var got []string
			for _, p := range found {
				require.EqualValues(t, 5, p.GetChangeIndex())
				require.Equal(t, "http_change", p.GetField())
				got = append(got, fmt.Sprint(p.GetSeverity(), " ", p.GetCode(), " ", p.GetMessage()))
			}
			require.Equal(t, want, got)
		})
	}
}

// A service that refuses the question is a problem; one that does not answer it is
// none, since nothing can be said.
func TestValidateWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	ask := func(t *testing.T, url string) ([]*gnomonv1.Problem, error) {
		t.Helper()
		return kind(t).Validate(t.Context(), batch, []changes.Subject{subject(0, &gnomonv1.HttpChange{ValidateUrl: url + "/secret?secret", Headers: map[string]string{"X": "secret"}})})
	}
	for _, status := range []int{400, 401, 404, 410, 422} {
		found, err := ask(t, reply(t, status, "secret"))
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, "CANNOT_VALIDATE", found[0].GetCode())
		require.Contains(t, found[0].GetMessage(), fmt.Sprint("status ", status))
		require.NotContains(t, found[0].GetMessage(), "secret")
	}
	for name, url := range map[string]string{
		"answered with status 201 Created":             reply(t, 201, `{"hard":[]}`),
		"answered with status 302 Found":               reply(t, 302, "", "Location", "/elsewhere"),
		"answered with status 408 Request Timeout":     reply(t, 408, ""),
		"answered with status 429 Too Many Requests":   reply(t, 429, ""),
		"answered with status 503 Service Unavailable": reply(t, 503, ""),
		`did not answer with {"hard": [...]`:           reply(t, 200, "secret"),
		`did not answer with {"hard": [...], `:         reply(t, 200, `{"problems": ["secret"]}`),
		`did not answer with {"hard": [...], "s`:       reply(t, 200, `{"hard": "secret"}`),
		"answered with more than 32768 bytes":          reply(t, 200, `{"hard": ["`+strings.Repeat("x", 40000)+`"]}`),
		"answered with more than 100 problems":         reply(t, 200, `{"hard": [`+strings.Repeat(`"x",`, 100)+`"x"]}`),
		"broke off":                                    reply(t, 200, `{"hard":[]}`, "Content-Length", "100"),
		"connection refused":                           "http://127.0.0.1:1",
	} {
		_, err := ask(t, url)
		require.ErrorContains(t, err, name)
		require.NotContains(t, err.Error(), "secret")
	}
}

// V-16: a change in doubt is not asked about, nor one without validate_url.
func TestValidateAsksOnlyWhatItMust(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = fmt.Fprintf(w, `{"hard": ["%s"]}`, r.Header.Get("Gnomon-Change-Index"))
	})
	var all []changes.Subject
	for i := range 50 {
		s := subject(i, &gnomonv1.HttpChange{ValidateUrl: url})
		if i%5 == 0 {
			s.InDoubt = true
		}
		if i%5 == 1 {
			s.Change.GetHttpChange().ValidateUrl = ""
		}
		all = append(all, s)
	}
	found, err := kind(t).Validate(t.Context(), batch, all)
	require.NoError(t, err)
	require.EqualValues(t, 30, asked.Load())
	require.Len(t, found, 30)
	for _, p := range found {
		require.Equal(t, fmt.Sprint(p.GetChangeIndex()), p.GetMessage())
	}
}

// V-12: which status is done, which rejects for good, and which is tried again.
func TestApply(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		200: "done", 201: "done", 202: "done", 204: "done", 299: "done",
		300: "again", 301: "again", 304: "again", 307: "again",
		400: "rejected", 401: "rejected", 404: "rejected", 409: "rejected", 412: "rejected", 422: "rejected", 499: "rejected",
		408: "again", 429: "again", 500: "again", 501: "again", 502: "again", 503: "again", 504: "again", 599: "again",
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			err := kind(t).Apply(t.Context(), batch, subject(0, &gnomonv1.HttpChange{ApplyUrl: reply(t, status, "", "Location", "/x")}), turn())
			got := "done"
			if err != nil {
				got = "again"
				require.ErrorContains(t, err, fmt.Sprint("status ", status))
			}
			if changes.IsRejected(err) {
				got = "rejected"
			}
			require.Equal(t, want, got)
		})
	}
}

// A service's own words say why; they are one line.
func TestApplyShowsWhyItWasRejected(t *testing.T) {
	t.Parallel()
	url := reply(t, 409, "already\r\n shipped\x00"+strings.Repeat(" x", 1000))
	err := kind(t).Apply(t.Context(), batch, subject(0, &gnomonv1.HttpChange{ApplyUrl: url}), turn())
	require.True(t, changes.IsRejected(err))
	require.ErrorContains(t, err, "POST "+url+" answered with status 409 Conflict: already shipped x x x")
	require.Less(t, len(err.Error()), 700)
}

// A service that is busy says for how long, within bounds.
func TestApplyRespectsRetryAfter(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"7": 7 * time.Second, "0": time.Second, "86400": 5 * time.Minute,
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat): time.Second,
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat):  5 * time.Minute,
	} {
		for _, status := range []int{429, 503} {
			err := kind(t).Apply(t.Context(), batch, subject(0, &gnomonv1.HttpChange{ApplyUrl: reply(t, status, "", "Retry-After", value)}), turn())
			after, ok := changes.RetryAfter(fmt.Errorf("change 0: %w", err))
			require.True(t, ok, value)
			require.Equal(t, want, after)
			require.False(t, changes.IsRejected(err))
		}
	}
	for _, url := range []string{
		reply(t, 429, ""), reply(t, 429, "", "Retry-After", "soon"), reply(t, 429, "", "Retry-After", "-1"), reply(t, 500, "", "Retry-After", "7"),
	} {
		_, ok := changes.RetryAfter(kind(t).Apply(t.Context(), batch, subject(0, &gnomonv1.HttpChange{ApplyUrl: url}), turn()))
		require.False(t, ok)
	}
}

// V-14: nothing is sent once a turn is over, and a caller that stops is not the
// service's fault.
func TestApplyEnds(t *testing.T) {
	t.Parallel()
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	k := kind(t)
	over := turn()
	over.Expires = time.Now()
	require.ErrorIs(t, k.Apply(t.Context(), batch, subject(0, &gnomonv1.HttpChange{ApplyUrl: "http://127.0.0.1:1"}), over), changes.ErrExpired)

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, k.Apply(ctx, batch, subject(0, &gnomonv1.HttpChange{ApplyUrl: url}), turn()), context.DeadlineExceeded)

	err := k.Apply(t.Context(), batch, subject(0, &gnomonv1.HttpChange{ApplyUrl: url, Timeout: durationpb.New(50 * time.Millisecond)}), turn())
	require.EqualError(t, err, "POST "+url+" did not end within its time limit of 50ms")
	require.False(t, changes.IsRejected(err))

	for _, bad := range []string{"", "/relative", "ftp://host", "http://[::1"} {
		require.ErrorContains(t, k.Apply(t.Context(), batch, subject(0, &gnomonv1.HttpChange{ApplyUrl: bad}), turn()), "http_change: the URL cannot be used")
	}
}
