package ydb_test

import (
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/outbound/tlstest"
	"gnomon/store"
	"gnomon/store/ydb"
	"gnomon/store/ydb/ydbdouble"
)

// environment is one of a test's own.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// exchange is an OAuth 2.0 token exchange that gives a token, and the file that leads
// to it.
func exchange(t *testing.T, token string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("subject_token") != "subject" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600})
	}))
	t.Cleanup(server.Close)
	return written(t, `{"token-endpoint": "`+server.URL+`", "subject-credentials": {"type": "FIXED", "token": "subject", "token-type": "urn:ietf:params:oauth:token-type:access_token"}}`)
}

func written(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

// Issue 4, Configuration: credentials by environment, as all of YDB's tools have them.
func TestCredentials(t *testing.T) {
	t.Parallel()
	const token = "secret-token"
	closed := start(t, ydbdouble.Options{Token: token, User: "user", Password: "password"})
	exchanged := start(t, ydbdouble.Options{Token: "Bearer " + token})
	for name, test := range map[string]struct {
		server *ydbdouble.Server
		env    []string
	}{
		"nothing":      {start(t, ydbdouble.Options{}), nil},
		"anonymous":    {start(t, ydbdouble.Options{}), []string{"YDB_ANONYMOUS_CREDENTIALS", "1"}},
		"access token": {closed, []string{"YDB_ACCESS_TOKEN_CREDENTIALS", token}},
		"static":       {closed, []string{"YDB_STATIC_CREDENTIALS_USER", "user", "YDB_STATIC_CREDENTIALS_PASSWORD", "password"}},
		"OAuth 2.0":    {exchanged, []string{"YDB_OAUTH2_KEY_FILE", exchange(t, token)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, ydb.Config{ConnectionString: test.server.ConnectionString(directory()), Getenv: environment(test.env...)})
			_, err := s.PutActions(t.Context(), []store.Row{numbered("a", 1)})
			require.NoError(t, err)
		})
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	of := tlstest.New(t, "ydb.test")
	server := start(t, ydbdouble.Options{TLS: &tls.Config{Certificates: []tls.Certificate{of.Pair}, MinVersion: tls.VersionTLS12}})
	s := open(t, ydb.Config{ConnectionString: server.ConnectionString(""), Getenv: environment("YDB_SSL_ROOT_CERTIFICATES_FILE", of.CertFile)})
	require.NoError(t, s.Ping(t.Context()))
}

// Issue 4, Configuration: clear errors for each way of getting it wrong, within
// seconds, and not a bare "context deadline exceeded". None shows a secret.
func TestEachWayOfGettingItWrong(t *testing.T) {
	t.Parallel()
	of, other := tlstest.New(t, "ydb.test"), tlstest.New(t, "ydb.test")
	plain := start(t, ydbdouble.Options{})
	secure := start(t, ydbdouble.Options{TLS: &tls.Config{Certificates: []tls.Certificate{of.Pair}, MinVersion: tls.VersionTLS12}})
	closed := start(t, ydbdouble.Options{Token: "token", User: "user", Password: "password"})
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, silent.Close()) })
	gone, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	const form = "the connection string must be grpc[s]://host:port/database[?directory=path]: "
	for name, test := range map[string]struct {
		connection string
		env        []string
		says       string
	}{
		"empty":              {"", nil, form + "it is empty"},
		"no scheme":          {"host:2136/local", nil, form + `its scheme is "host"`},
		"another scheme":     {"http://host:2136/local", nil, form + `its scheme is "http"`},
		"no port":            {"grpc://host/local", nil, form + "host or port is missing"},
		"no host":            {"grpc://:2136/local", nil, form + "host or port is missing"},
		"no database":        {"grpc://host:2136", nil, form + "the database is missing"},
		"odd database":       {`grpc://host:2136/a"b`, nil, form + "the database must be letters"},
		"odd directory":      {`grpc://host:2136/local?directory=a");DROP`, nil, "must be grpc"},
		"outer directory":    {"grpc://host:2136/local?directory=../other", nil, form + "the directory must be a path"},
		"not a URL":          {"grpc://host:%zz/local?password=hunter2", nil, form},
		"nobody listens":     {"grpc://" + gone.Addr().String() + "/local", nil, "connection refused"},
		"nobody answers":     {"grpc://" + silent.Addr().String() + "/local", nil, "accepts connections, but does not answer as a YDB"},
		"no such host":       {"grpc://no-such-host.invalid:2136/local", nil, "no-such-host.invalid:2136 cannot be reached: dial tcp: lookup"},
		"no such database":   {"grpc://" + plain.Address() + "/other", nil, "there is no database /other at " + plain.Address()},
		"TLS to plain":       {"grpcs://" + plain.Address() + "/local", nil, "it does not speak TLS: use grpc://"},
		"plain to TLS":       {"grpc://" + secure.Address() + "/local", nil, "it speaks TLS: use grpcs://"},
		"unknown root":       {secure.ConnectionString(""), nil, "set YDB_SSL_ROOT_CERTIFICATES_FILE"},
		"another root":       {secure.ConnectionString(""), []string{"YDB_SSL_ROOT_CERTIFICATES_FILE", other.CertFile}, "cannot be reached: "},
		"root is missing":    {secure.ConnectionString(""), []string{"YDB_SSL_ROOT_CERTIFICATES_FILE", "/no/such/file"}, "YDB_SSL_ROOT_CERTIFICATES_FILE cannot be read"},
		"root is none":       {secure.ConnectionString(""), []string{"YDB_SSL_ROOT_CERTIFICATES_FILE", written(t, "hello")}, "holds no certificate in PEM"},
		"no token":           {closed.ConnectionString(""), nil, "refuses the credentials for the database /local"},
		"another token":      {closed.ConnectionString(""), []string{"YDB_ACCESS_TOKEN_CREDENTIALS", "hunter2"}, "refuses the credentials"},
		"another password":   {closed.ConnectionString(""), []string{"YDB_STATIC_CREDENTIALS_USER", "user", "YDB_STATIC_CREDENTIALS_PASSWORD", "hunter2"}, "refuses the credentials"},
		"password alone":     {plain.ConnectionString(""), []string{"YDB_STATIC_CREDENTIALS_PASSWORD", "hunter2"}, "YDB_STATIC_CREDENTIALS_USER is not"},
		"two kinds":          {plain.ConnectionString(""), []string{"YDB_ACCESS_TOKEN_CREDENTIALS", "hunter2", "YDB_OAUTH2_KEY_FILE", "f"}, "credentials must be of one kind"},
		"an unsupported one": {plain.ConnectionString(""), []string{"YDB_METADATA_CREDENTIALS", "1"}, "YDB_METADATA_CREDENTIALS is set, which this program does not support"},
		"OAuth 2.0, no file": {plain.ConnectionString(""), []string{"YDB_OAUTH2_KEY_FILE", "/no/such/file"}, "YDB_OAUTH2_KEY_FILE cannot be read"},
		"OAuth 2.0, no JSON": {plain.ConnectionString(""), []string{"YDB_OAUTH2_KEY_FILE", written(t, "hello")}, "cannot be used: "},
		"not migrated":       {plain.ConnectionString("empty"), nil, "the store is behind: its tables in /local/empty have version 0, this program needs 5: run gnomon migrate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			_, err := ydb.Open(t.Context(), ydb.Config{
				ConnectionString: test.connection, ConnectTimeout: 2 * time.Second, Getenv: environment(test.env...),
			})
			require.ErrorContains(t, err, test.says)
			require.NotContains(t, err.Error(), "hunter2")
			require.NotContains(t, err.Error(), "ydb-go-sdk")
			require.Less(t, time.Since(begin), 15*time.Second)
		})
	}
}

func TestConfigNamesEveryBadField(t *testing.T) {
	t.Parallel()
	_, err := ydb.Open(t.Context(), ydb.Config{TombstoneTTL: -1, Timeout: -1, ConnectTimeout: -1, Writers: -1})
	for _, field := range []string{"TombstoneTTL", "Timeout", "ConnectTimeout", "Writers"} {
		require.ErrorContains(t, err, "Config."+field+" must not be negative")
	}
}
