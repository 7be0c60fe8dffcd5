package stages_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/outbound"
	"gnomon/outbound/tlstest"
	"gnomon/stages"
)

// asked is a stage of the program.
type asked struct {
	should  func(context.Context, *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error)
	process func(context.Context, *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error)
}

func (a asked) ShouldProcess(ctx context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	return a.should(ctx, r)
}

func (a asked) Process(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	return a.process(ctx, r)
}

// saving is one that wants to be told too.
type saving struct {
	asked

	saved func(context.Context, *gnomonv1.OnSavedRequest) (*gnomonv1.OnSavedResponse, error)
}

func (s saving) OnSaved(ctx context.Context, r *gnomonv1.OnSavedRequest) (*gnomonv1.OnSavedResponse, error) {
	return s.saved(ctx, r)
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stages.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// A declaration says all that the design names, and what is left out has its default.
func TestLoad(t *testing.T) {
	t.Parallel()
	server := tlstest.New(t, "price.test")
	path := written(t, `
stages:
  - name: withdraw
    entityType: offer
    go: withdraw
  - name: price
    entityType: offer
    address: "127.0.0.1:1"
    timeouts: {shouldProcess: 500ms, process: 2m, onSaved: 3s}
    rateLimit: 2.5
    parallelism: 4
    fields: [title, area]
    onSaved: true
    tls:
      ca: `+server.CertFile+`
      cert: `+server.CertFile+`
      key: `+server.KeyFile+`
      serverName: price.test
  - {name: photos, entityType: album, go: told, rateLimit: 7, onSaved: true}
`)
	set, err := stages.Load(path, stages.Registry{"withdraw": asked{}, "told": saving{}}, quiet())
	require.NoError(t, err)
	defer func() { require.NoError(t, set.Close()) }()
	var got []stages.Declaration
	for _, one := range set.All() {
		got = append(got, one.Declaration)
	}
	usual := stages.Declaration{ShouldProcessTimeout: time.Second, ProcessTimeout: 30 * time.Second, OnSavedTimeout: 10 * time.Second}
	withdraw, photos := usual, usual
	withdraw.Name, withdraw.EntityType, withdraw.Go = "withdraw", "offer", "withdraw"
	photos.Name, photos.EntityType, photos.Go, photos.RateLimit, photos.OnSaved = "photos", "album", "told", 7, true
	require.Equal(t, []stages.Declaration{photos, {
		Name: "price", EntityType: "offer", Address: "127.0.0.1:1",
		ShouldProcessTimeout: 500 * time.Millisecond, ProcessTimeout: 2 * time.Minute, OnSavedTimeout: 3 * time.Second,
		RateLimit: 2.5, Parallelism: 4, Fields: []string{"title", "area"}, OnSaved: true,
		TLS: &outbound.TLS{CAFile: server.CertFile, CertFile: server.CertFile, KeyFile: server.KeyFile, ServerName: "price.test"},
	}, withdraw}, got)
	require.Len(t, set.Of("offer"), 2)
	require.Equal(t, "photos", set.Named("photos").Name)
	require.Nil(t, set.Named("none"))
}

// All that is wrong is said at once, each with its line, its field and the rule.
func TestFilesAreJudgedAsAWhole(t *testing.T) {
	t.Parallel()
	path := written(t, `
colour: red
stages:
  - name: Withdraw
    entityType: offer
    go: nothing
  - name: price
    entitytype: offer
    address: "127.0.0.1"
    timeouts: {process: 2h, onSaved: soon, never: 1s}
  - name: price
    entityType: offer
    address: "127.0.0.1:1"
    go: withdraw
    rateLimit: -1
    parallelism: 1.5
    fields: [a, a, ""]
    onSaved: yes please
    tls: {cert: c.pem}
  - entityType: 7
    go: withdraw
    parallelism: 99999
  - price
  - {name: e, entityType: offer, go: withdraw, tls: {}}
  - {name: f, entityType: offer, go: unknown}
  - {name: g, entityType: offer, go: withdraw, onSaved: true}
  - {name: h, entityType: offer, address: "127.0.0.1:1", tls: {ca: /dev/null}}
  - {name: i, entityType: offer}
`)
	_, err := stages.Load(path, stages.Registry{"withdraw": asked{}}, quiet())
	require.Error(t, err)
	require.Equal(t, strings.Split(strings.TrimSpace(`
stages: `+path+`: line 2: colour: is no field there is
line 4: stages[0].name: is "Withdraw" and must be 1 to 63 lower-case letters, digits and '-', beginning with a letter
line 7: stages[1].entityType: must be set
line 8: stages[1].entitytype: is no field there is
line 9: stages[1].address: is "127.0.0.1" and must be host:port or a gRPC target with a scheme, such as dns:///host:port or unix:/run/stage.sock
line 10: stages[1].timeouts.onSaved: is "soon" and must be a duration such as 1s
line 10: stages[1].timeouts.never: is no field there is
line 10: stages[1].timeouts.process: is 2h0m0s and must be 10ms to 1h0m0s
line 11: stages[2].name: is "price", as that of stages[1] in line 7
line 11: stages[2]: address and go must not both be set
line 15: stages[2].rateLimit: is -1 and must be above 0 and at most 1e+06 calls a second, or 0 for no limit
line 16: stages[2].parallelism: must be a whole number that is not negative
line 17: stages[2].fields: has "a" twice
line 17: stages[2].fields: must not have an empty name
line 18: stages[2].onSaved: must be true or false
line 19: stages[2].tls: cert and key must be set both or neither
line 20: stages[3].entityType: must be text
line 20: stages[3].name: must be set
line 22: stages[3].parallelism: is 99999 and must be 1 to 10000, or 0 for no limit
line 23: stages[4]: must be an object
line 24: stages[5].tls: needs address
line 25: stages[6].go: is "unknown" and must be one of the stages in this program: withdraw
line 26: stages[7].onSaved: must not be true, as withdraw has no OnSaved
line 27: stages[8].tls: ca: /dev/null holds no certificate in PEM
line 28: stages[9]: address or go must be set
`), "\n"), strings.Split(err.Error(), "\n"))
}

// The facade calls no stage: it needs the declarations alone.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	set, err := stages.Declarations(written(t, `
stages:
  - {name: a, entityType: offer, go: elsewhere, onSaved: true}
  - {name: b, entityType: offer, address: "127.0.0.1:1", tls: {ca: /none}}
`))
	require.NoError(t, err)
	require.Equal(t, 30*time.Second, set.Named("a").ProcessTimeout)
	require.NoError(t, set.Close())
	_, err = stages.Declarations(written(t, "stages: [{name: A, entityType: 7, go: a}]"))
	require.ErrorContains(t, err, "line 1: stages[0].entityType: must be text\nline 1: stages[0].name: is \"A\"")
	_, err = stages.Declarations("/none")
	require.ErrorIs(t, err, os.ErrNotExist)
	set, err = stages.Declarations("")
	require.NoError(t, err)
	require.Empty(t, set.All())
}

func TestFilesThatAreNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "line 1: stages: must be set",
		"{}":                          "line 1: stages: must be set",
		"- a":                         "line 1: the file: must be an object",
		"stages: 7":                   "line 1: stages: must be a list",
		"stages:\n  - name: a\n   x:": "line 3: the file: ",
		"stages: []\n---\nstages: []": "line 3: the file: must hold one document",
		"stages: []\nstages: []":      "line 2: the file: ",
	} {
		_, err := stages.Load(written(t, text), nil, quiet())
		require.ErrorContains(t, err, want, text)
	}
	_, err := stages.Load(filepath.Join(t.TempDir(), "none.yaml"), nil, quiet())
	require.ErrorIs(t, err, os.ErrNotExist)
	set, err := stages.Open("", nil, quiet())
	require.NoError(t, err)
	require.Empty(t, set.All())
}

// A panic of a stage is an error that names the stage, and the log has no content.
func TestPanicsAreErrors(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := stages.Declare(stages.Declaration{Name: "price", Go: "price"}, saving{asked: asked{
		should: func(context.Context, *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
			panic("secret content")
		},
		process: func(context.Context, *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
			panic(errors.New("secret content"))
		},
	}, saved: func(context.Context, *gnomonv1.OnSavedRequest) (*gnomonv1.OnSavedResponse, error) { panic(7) }}, slog.New(slog.NewTextHandler(&log, nil)))
	_, err := s.ShouldProcess(t.Context(), &gnomonv1.ShouldProcessRequest{})
	require.EqualError(t, err, "stage price: ShouldProcess: Internal: panic: secret content")
	_, err = s.Process(t.Context(), &gnomonv1.ProcessRequest{})
	require.EqualError(t, err, "stage price: Process: Internal: panic: secret content")
	_, err = s.Stage.(stages.Saver).OnSaved(t.Context(), &gnomonv1.OnSavedRequest{})
	require.EqualError(t, err, "stage price: OnSaved: Internal: panic: 7")
	require.Equal(t, 3, strings.Count(log.String(), "A stage panicked."))
	require.NotContains(t, log.String(), "secret")
}

// G-10: what a stage of the program does to what it was given stays with it, since others
// are asked about the same at the same time.
func TestStagesOfTheProgramGetACopy(t *testing.T) {
	t.Parallel()
	s := stages.Declare(stages.Declaration{Name: "price", Go: "price"}, asked{
		process: func(_ context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
			r.GetEntity().GetContent().GetFields()["price"] = structpb.NewNumberValue(7)
			return &gnomonv1.ProcessResponse{EntityUpdate: &gnomonv1.ProcessResponse_Content{Content: r.GetEntity().GetContent()}}, nil
		},
	}, quiet())
	content, err := structpb.NewStruct(map[string]any{"price": 1})
	require.NoError(t, err)
	got, err := s.Process(t.Context(), &gnomonv1.ProcessRequest{Entity: &gnomonv1.Entity{Content: content}})
	require.NoError(t, err)
	require.InDelta(t, 7, got.GetContent().GetFields()["price"].GetNumberValue(), 0)
	require.InDelta(t, 1, content.GetFields()["price"].GetNumberValue(), 0)
}
