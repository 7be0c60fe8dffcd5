package dnsrecord_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/changes/dnsrecord"
)

func load(t *testing.T, text string) (dnsrecord.Config, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "zones.yaml")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return dnsrecord.Load(name)
}

func TestLoad(t *testing.T) {
	t.Setenv("GNOMON_TEST_KEY", "c2VjcmV0")
	c, err := load(t, `
zones:
  - name: example.org
    server: 192.0.2.53
    key:
      name: gnomon
      algorithm: hmac-sha512
      secret: {env: GNOMON_TEST_KEY}
    ttl: {min: 60, max: 86400, default: 600}
    high_value: [example.org, "*.prod.example.org"]
    owner_label: _holder
    timeout: 3s
    clock_skew: 500ms
  - name: example.net
    server: "[2001:db8::53]:5353"
`)
	require.NoError(t, err)
	require.Equal(t, dnsrecord.Config{Zones: []dnsrecord.Zone{{
		Name: "example.org", Server: "192.0.2.53",
		Key: dnsrecord.Key{Name: "gnomon", Algorithm: "hmac-sha512", Secret: "c2VjcmV0"},
		TTL: dnsrecord.TTLRange{Min: 60, Max: 86400, Default: 600}, HighValue: []string{"example.org", "*.prod.example.org"},
		OwnerLabel: "_holder", Timeout: 3 * time.Second, ClockSkew: 500 * time.Millisecond,
	}, {Name: "example.net", Server: "[2001:db8::53]:5353"}}}, c)
}

// Errors name the zone and the field, never a secret.
func TestLoadSaysWhatIsWrong(t *testing.T) {
	t.Setenv("GNOMON_TEST_KEY", "c2VjcmV0")
	t.Setenv("GNOMON_TEST_BAD_KEY", "!secret!")
	const zone = "zones:\n  - name: example.org\n    server: 192.0.2.53\n"
	for text, file := range map[string]string{
		"zones.yaml: ":                                "zones: 7",
		`unknown field "zonen"`:                       "zonen: []",
		`unknown field "secret_"`:                     zone + "    key: {name: k, secret_: x}",
		"name must be a domain name":                  "zones:\n  - server: 192.0.2.53\n",
		"server must be set":                          "zones:\n  - name: example.org\n",
		"server \":53\" must be host or host:port":    "zones:\n  - name: example.org\n    server: ':53'\n",
		"key.secret: file or env must be set":         zone + "    key: {name: k}",
		"the environment has no variable GNOMON_NONE": zone + "    key: {name: k, secret: {env: GNOMON_NONE}}",
		"the key's secret must be base64":             zone + "    key: {name: k, secret: {env: GNOMON_TEST_BAD_KEY}}",
		"key.name must be set":                        zone + "    key: {secret: {env: GNOMON_TEST_KEY}}",
		`key.algorithm "hmac-md5" is none of`:         zone + "    key: {name: k, algorithm: hmac-md5, secret: {env: GNOMON_TEST_KEY}}",
		"ttl.min 9 and ttl.max 8":                     zone + "    ttl: {min: 9, max: 8}",
		`high_value[0] "[" is not a pattern`:          zone + "    high_value: ['[']",
		`owner_label "a.b" must be one label`:         zone + "    owner_label: a.b",
		`timeout "5" is not a duration`:               zone + "    timeout: 5",
		"timeout is 2m0s and must be":                 zone + "    timeout: 2m",
		"clock_skew is 2m0s and must be":              zone + "    clock_skew: 2m",
		`zone "example.org." is there twice`:          zone + "  - name: EXAMPLE.org.\n    server: 192.0.2.53\n",
	} {
		_, err := load(t, file)
		require.ErrorContains(t, err, text, file)
		require.NotContains(t, err.Error(), "secret!")
		require.NotContains(t, err.Error(), "c2VjcmV0")
	}
	_, err := dnsrecord.Load(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorContains(t, err, "no such file")
}
