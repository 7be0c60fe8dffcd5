package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// What is printed as YAML can be read back, whatever stands in it.
func TestYAMLRoundTrip(t *testing.T) {
	t.Parallel()
	nasty := []string{
		"", " ", "true", "null", "~", "1", "1.5", "0x1f", "1e3", "2026-11-21", "2026-11-21T10:00:00Z", "- a", "a: b", "#", "'", `"`, `\`,
		"a\nb", "a\n", "\na", "\n", "a\r\nb", "\t", "\x01", "\u0085", "\u2028", "\ufeff", "😀", "é", "{a}", "[a]", "&a", "*a", "!a", "|", ">", "%", "@", "`", "yes", "=", "<<", "---", "...", "a #b", "a:",
		"1_000", "0o7", "0b1", "+1", "012", "NaN", "12:30", "on", "Off", "NULL", "True", "1.", "a:b", "a=", "?a", "@a", "1.2.3", "+.inf", "-1", "0", "1e", "_1",
	}
	for _, text := range nasty {
		requireRoundTrip(t, text)
	}
	rapid.Check(t, func(t *rapid.T) { requireRoundTrip(t, rapid.String().Draw(t, "text")) })
}

// Keys are the names of headers (tokens of RFC 9110) and of labels.
func TestYAMLRoundTripOfKeys(t *testing.T) {
	t.Parallel()
	token := rapid.StringMatching("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,5}")
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.OneOf(token, rapid.SampledFrom([]string{"true", "null", "1", "1.5", "yes", "-", "~", "0x1", "*a", "2026-11-21", "'"})).Draw(t, "key")
		want := &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "a", Labels: map[string]string{key: "v", "other": "w"}}}
		out, err := encodeYAML(want)
		require.NoError(t, err)
		trees, err := decodeTrees("a.yaml", out)
		require.NoError(t, err, "%s", out)
		got, err := actionOf(trees[0])
		require.NoError(t, err, "%s", out)
		require.Equal(t, want.GetMeta().GetLabels(), got.GetMeta().GetLabels(), "%s", out)
	})
}

func requireRoundTrip(t require.TestingT, text string) {
	want := &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: "a", Labels: map[string]string{"k": text, "z": "last"}},
		Spec: &gnomonv1.Spec{Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{
			Url: text, Body: []byte(text),
			AcceptedStatus: []*gnomonv1.HttpRequest_StatusRange{{First: 200, Last: 299}, {First: 304}},
		}}}},
	}
	out, err := encodeYAML(want)
	require.NoError(t, err)
	trees, err := decodeTrees("a.yaml", out)
	require.NoError(t, err, "%q:\n%s", text, out)
	require.Len(t, trees, 1)
	got, err := actionOf(trees[0])
	require.NoError(t, err, "%q:\n%s", text, out)
	require.Equal(t, text, got.GetMeta().GetLabels()["k"], "%s", out)
	require.Equal(t, text, got.GetSpec().GetAction().GetHttpRequest().GetUrl(), "%s", out)
	require.Equal(t, text, string(got.GetSpec().GetAction().GetHttpRequest().GetBody()))
	require.Len(t, got.GetSpec().GetAction().GetHttpRequest().GetAcceptedStatus(), 2)
}
