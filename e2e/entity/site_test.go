package entity

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/stages"
	"gnomon/starter"
	"gnomon/store"
	"gnomon/store/sqlite"
)

// within bounds what must come on a machine that is busy.
const within = 2 * time.Minute

var quiet = slog.New(slog.DiscardHandler)

// site is an installation with a task queue and entities of its own, over the Temporal
// that the tests share.
type site struct {
	t     *testing.T
	queue string
	// kind is the type of its entities, whose workflows' ids all tests share.
	kind     string
	temporal client.Client
	rows     store.Store
	stages   *stages.Set
	saved    *recorder
	calls    gnomonv1.EntityServiceClient
	rest     string
}

// open starts a facade and a worker with these stages.
func open(t *testing.T, declared ...*stages.Declared) *site {
	t.Helper()
	s := openFacade(t, temporal.Address(), declared...)
	s.work()
	return s
}

// openFacade starts a facade alone, before a Temporal.
func openFacade(t *testing.T, at string, declared ...*stages.Declared) *site {
	t.Helper()
	s := &site{t: t, queue: t.Name(), kind: strings.ToLower(t.Name()), saved: &recorder{records: map[string][]*gnomonv1.SavedRecord{}}}
	for _, d := range declared {
		d.EntityType = cmp.Or(d.EntityType, s.kind)
	}
	s.stages = stages.NewSet(declared...)
	var err error
	s.temporal, err = client.NewLazyClient(client.Options{HostPort: at, Logger: sdklog.NewStructuredLogger(quiet)})
	require.NoError(t, err)
	t.Cleanup(s.temporal.Close)
	rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.MemoryPath})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	s.rows = rows
	s.serve()
	return s
}

// serve starts the facade.
func (s *site) serve() {
	t := s.t
	t.Helper()
	services, ready, err := starter.NewServices(starter.Config{
		Client: s.temporal, TaskQueue: s.queue, Store: s.rows, Stages: s.stages,
		ApplyTimeout: 5 * time.Second, WatchInterval: 10 * time.Millisecond, Logger: quiet,
	})
	require.NoError(t, err)
	facade, err := starter.NewServer(starter.ServerConfig{
		GRPCAddress: "127.0.0.1:0", HTTPAddress: "127.0.0.1:0", CallTimeout: within, Logger: quiet,
	}, services, ready)
	require.NoError(t, err)
	require.NoError(t, facade.Start())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, facade.Stop(ctx))
	})
	s.rest = "http://" + facade.HTTPAddr()
	conn, err := grpc.NewClient(facade.GRPCAddr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	s.calls = gnomonv1.NewEntityServiceClient(conn)
}

// put puts an offer.
func (s *site) put(id string, content map[string]any) *gnomonv1.Entity {
	s.t.Helper()
	fields, err := structpb.NewStruct(content)
	require.NoError(s.t, err)
	e, err := s.calls.PutEntity(s.t.Context(), &gnomonv1.PutEntityRequest{Entity: &gnomonv1.Entity{Type: s.kind, Id: id, Content: fields}})
	require.NoError(s.t, err)
	return e
}

// check is what is pending of an offer.
func (s *site) check(id string) *gnomonv1.CheckEntityResponse {
	s.t.Helper()
	reply, err := s.calls.CheckEntity(s.t.Context(), &gnomonv1.CheckEntityRequest{Type: s.kind, Id: id})
	require.NoError(s.t, err)
	return reply
}

// reaches watches an offer until it has this version.
func (s *site) reaches(id string, version int64) *gnomonv1.Entity {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), within)
	defer cancel()
	watch, err := s.calls.WatchEntity(ctx, &gnomonv1.WatchEntityRequest{Type: s.kind, Id: id})
	require.NoError(s.t, err)
	for {
		r, err := watch.Recv()
		require.NoError(s.t, err, "version %d of %s", version, id)
		if r.GetEntity().GetVersion() >= version {
			require.Equal(s.t, version, r.GetEntity().GetVersion())
			return r.GetEntity()
		}
	}
}

// settles waits until no stage is pending and nobody is to be asked.
func (s *site) settles(id string) *gnomonv1.CheckEntityResponse {
	s.t.Helper()
	var last *gnomonv1.CheckEntityResponse
	s.becomes("nothing is pending of "+id, func() bool {
		last = s.check(id)
		return len(last.GetPending())+len(last.GetAsking()) == 0
	})
	return last
}

// becomes waits for what nothing tells of.
func (s *site) becomes(what string, holds func() bool) {
	s.t.Helper()
	require.Eventually(s.t, holds, within, 20*time.Millisecond, what)
}

// stage declares one of offers.
func stage(name string, p *played, change func(*stages.Declaration)) *stages.Declared {
	d := &stages.Declared{Declaration: stages.Declaration{
		Name: name, Go: name,
		ShouldProcessTimeout: 5 * time.Second, ProcessTimeout: 30 * time.Second, OnSavedTimeout: 10 * time.Second,
	}, Stage: p}
	if change != nil {
		change(&d.Declaration)
	}
	return d
}
