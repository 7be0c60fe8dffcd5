package starter

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Every method of the service that has an annotation is known, with what its body
// fills; a rule that is missing here would refuse its method.
func TestHTTPRulesAreTheProtos(t *testing.T) {
	t.Parallel()
	rules, err := readHTTPRules(Services{Actions: newFakeService()}.all())
	require.NoError(t, err)
	require.Len(t, rules, len(gnomonv1.ActionService_ServiceDesc.Methods)+len(gnomonv1.ActionService_ServiceDesc.Streams))
	patch := rules[http.MethodPatch+" /v1/actions/{action.meta.id}"]
	require.Equal(t, "action", patch.bodyField)
	require.Equal(t, "gnomon.v1.ScheduledAction", string(patch.body.Descriptor().FullName()))
	require.True(t, patch.pathFields["action.meta.id"])
	require.True(t, rules[http.MethodGet+" /v1/actions/{id}:watch"].streams)
	require.Equal(t, "*", rules[http.MethodPost+" /v1/actions/{id}:pause"].bodyField)
	require.Nil(t, rules[http.MethodGet+" /v1/actions"].body)
}

// A body is read or refused as a body, never anything else, and the details of the
// refusal can be encoded.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"requests":[{"action":{"meta":{"id":"a"}}},{"action":{"mate":{}}}]}`, `{"requests":[[]]}`, `{"requests":{"a":[1,{"b":2}]}}`,
		`[{"a":1}]`, `{"requests":[{"action":{"meta":{"labels":{"a":1e999999}}}}]}`, `"é"`, "{\"\xff\":1}", `null`, `{}`, `{"":{"":[]}}`,
		"{\n\"requests\":\n[\n{\"requestId\":\"\\ud800\"}]}", `{"requests":[{"action":{"spec":{"action":{"httpRequest":{"headers":{"":[]}}}}}}]}`,
	} {
		f.Add([]byte(seed))
	}
	rules, err := readHTTPRules(Services{Actions: newFakeService()}.all())
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, rule := range []httpRule{rules["POST /v1/actions:batchCreate"], rules["POST /v1/actions"]} {
			err := checkBody(body, rule)
			if err == nil {
				continue
			}
			require.Equal(t, codes.InvalidArgument, status.Code(err))
			require.Len(t, status.Convert(err).Details(), 2)
		}
	})
}

// What a body holds may be a secret: a refusal says which field and what was
// expected there, and quotes no value.
func TestComplaintsAboutBodiesQuoteNoValues(t *testing.T) {
	t.Parallel()
	rules, err := readHTTPRules(Services{Actions: newFakeService()}.all())
	require.NoError(t, err)
	const where = "action.spec.action.http_request."
	for member, want := range map[string]string{
		`"body":"%s3cret"`:             where + "body: invalid value for bytes field body",
		`"timeout":"s3cret"`:           where + "timeout: invalid google.protobuf.Duration value",
		`"timeout":"999999999999s"`:    where + "timeout: google.protobuf.Duration value out of range",
		`"url":["s3cret"]`:             where + "url: invalid value for string field url",
		`"headers":"s3cret"`:           where + "headers: does not fit the message",
		`"headers":{"X":{"s3cret":1}}`: where + `headers["X"]: invalid value for string field value`,
		`"body":"s3cret","bodi":""`:    where + `bodi: unknown field "bodi"`,
		`"url":"s3cret","url":""`:      where + `url: duplicate field "url"`,
	} {
		err := checkBody([]byte(`{"spec":{"action":{"httpRequest":{`+member+`}}}}`), rules["POST /v1/actions"])
		require.EqualError(t, err, want)
	}
}
