package offers_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/examples/stages/offers"
	"gnomon/stages"
	"gnomon/stages/stagetest"
)

type (
	object = map[string]any
	list   = []any
)

func declaration(name string) stages.Declaration {
	return stages.Declaration{Name: name, EntityType: "offer", Go: name}
}

// Seed 004, example 1: nothing for 180 days, then the offer is withdrawn, once.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	check := func(c stagetest.Case) stagetest.Answers {
		return stagetest.Check(t, declaration(offers.WithdrawName), offers.Withdraw{}, c)
	}
	began := time.Now().Add(-24 * time.Hour).Truncate(time.Second)
	long := time.Now().Add(-181 * 24 * time.Hour).Truncate(time.Second)

	fresh := check(stagetest.Case{Content: object{"title": "a"}, Created: began})
	require.True(t, fresh.Should.GetShouldProcess(), "its exposure is to be noted")
	require.Equal(t, object{"title": "a"}, fresh.After)
	require.Equal(t, began.Add(offers.Exposure).UTC(), fresh.Done.GetTimer().AsTime())

	noted := check(stagetest.Case{Content: object{"title": "b"}, Created: time.Now(), State: timestamppb.New(began)})
	require.Equal(t, began.Add(offers.Exposure).UTC(), noted.Should.GetTimer().AsTime(), "a change puts off nothing")
	require.Equal(t, began.Add(offers.Exposure).UTC(), noted.Done.GetTimer().AsTime())

	over := check(stagetest.Case{Content: object{"title": "a"}, State: timestamppb.New(long), Cause: gnomonv1.ProcessRequest_TIMER})
	require.Equal(t, object{"title": "a", "status": "withdrawn"}, over.After)
	require.Nil(t, over.Done.GetTimer())

	ended := check(stagetest.Case{Content: over.After, State: over.Done.GetState()})
	require.False(t, ended.Should.GetShouldProcess())
	require.Nil(t, ended.Should.GetTimer())

	byOwner := check(stagetest.Case{Content: object{"status": "withdrawn"}, State: timestamppb.New(began)})
	require.True(t, byOwner.Should.GetShouldProcess(), "the end of the exposure is to be noted")
	require.Nil(t, byOwner.Done.GetTimer())

	again := check(stagetest.Case{Content: object{"status": "active"}, Created: began, State: over.Done.GetState()})
	require.True(t, again.Should.GetShouldProcess())
	require.Equal(t, began.Add(offers.Exposure).UTC(), again.Done.GetTimer().AsTime())
}

// Seed 004, example 3.
func TestPrice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ content, want object }{
		{object{"area": 50, "rooms": 2}, object{"area": 50.0, "rooms": 2.0, "predictedPrice": 8.5e6}},
		{object{"area": 50, "rooms": 2, "predictedPrice": 8.5e6}, nil},
		{object{"area": 50, "rooms": 2, "predictedPrice": 1}, object{"area": 50.0, "rooms": 2.0, "predictedPrice": 8.5e6}},
		{object{"predictedPrice": 1}, object{}},
		{object{"area": "large"}, nil},
		{nil, nil},
	} {
		got := stagetest.Check(t, declaration(offers.PriceName), offers.Price{}, stagetest.Case{Content: tt.content})
		require.Equal(t, tt.want != nil, got.Should.GetShouldProcess(), tt.content)
		if tt.want != nil {
			require.Equal(t, tt.want, got.After)
		}
	}
}

// Seed 004, example 4.
func TestPhotos(t *testing.T) {
	t.Parallel()
	kitchen, front, other := object{"url": "k", "angle": "kitchen"}, object{"url": "f", "angle": "front"}, object{"url": "o"}
	for _, tt := range []struct{ photos, want any }{
		{list{other, kitchen, front}, list{front, kitchen, other}},
		{list{front, kitchen, other}, nil},
		{list{}, nil},
		{"none", nil},
		{list{"x", front}, list{front, "x"}},
	} {
		got := stagetest.Check(t, declaration(offers.PhotosName), offers.Photos{}, stagetest.Case{Content: object{"photos": tt.photos}})
		require.Equal(t, tt.want != nil, got.Should.GetShouldProcess(), tt.photos)
		if tt.want != nil {
			require.Equal(t, object{"photos": tt.want}, got.After)
		}
	}
}

// Seed 004, example 5: what the site says is noted, asked when the video changes and once
// a day; a site that does not answer is an error.
func TestVideo(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("v") {
		case "there & then":
		case "gone":
			w.WriteHeader(http.StatusNotFound)
		case "slow":
			<-r.Context().Done()
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer site.Close()
	video := offers.NewVideo(offers.VideoConfig{URL: site.URL + "/watch?v={id}", Timeout: 100 * time.Millisecond, Every: time.Hour})
	check := func(c stagetest.Case) stagetest.Answers {
		return stagetest.Check(t, declaration(offers.VideoName), video, c)
	}

	there := check(stagetest.Case{Content: object{"video": object{"id": "there & then", "title": "x"}}})
	require.True(t, there.Should.GetShouldProcess())
	require.Equal(t, object{"video": object{"id": "there & then", "title": "x", "available": true}}, there.After)
	require.WithinDuration(t, time.Now().Add(time.Hour), there.Done.GetTimer().AsTime(), time.Minute)

	known := check(stagetest.Case{Content: there.After, State: there.Done.GetState()})
	require.False(t, known.Should.GetShouldProcess())
	require.True(t, known.Done.GetKeepTimer())

	gone := check(stagetest.Case{Content: object{"video": object{"id": "gone", "available": true}}, State: wrapperspb.String("gone"), Cause: gnomonv1.ProcessRequest_REQUEST})
	require.Equal(t, object{"video": object{"id": "gone", "available": false}}, gone.After)

	require.Nil(t, check(stagetest.Case{Content: object{"video": object{}}, State: wrapperspb.String("gone")}).Done.GetTimer())
	require.False(t, check(stagetest.Case{}).Should.GetShouldProcess())

	declared := stages.Declare(declaration(offers.VideoName), video, nil)
	for _, id := range []string{"slow", "broken"} {
		_, err := declared.Process(t.Context(), &gnomonv1.ProcessRequest{Entity: offer(t, object{"video": object{"id": id}})})
		require.Error(t, err, id)
	}
}

// The same stages, served.
func TestServer(t *testing.T) {
	t.Parallel()
	var listen net.ListenConfig
	listener, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := grpc.NewServer()
	gnomonv1.RegisterStageServiceServer(g, offers.Server{Stages: offers.Registry(offers.VideoConfig{})})
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(listener) })
	defer serving.Wait()
	defer g.Stop()
	served := stagetest.Dial(t, listener.Addr().String())
	got := stagetest.Check(t, declaration(offers.PriceName), served, stagetest.Case{Content: object{"area": 50, "rooms": 2}})
	require.InDelta(t, 8.5e6, got.After["predictedPrice"], 0)
	_, err = served.ShouldProcess(t.Context(), &gnomonv1.ShouldProcessRequest{Stage: "other"})
	require.Equal(t, codes.NotFound, status.Code(err))
	_, err = served.Process(t.Context(), &gnomonv1.ProcessRequest{Stage: "other"})
	require.Equal(t, codes.NotFound, status.Code(err))
}

// The file that the README names is in order.
func TestFile(t *testing.T) {
	t.Parallel()
	registry := offers.Registry(offers.VideoConfig{})
	set, err := stages.Load("../stages.yaml", registry, nil)
	require.NoError(t, err)
	require.Len(t, set.All(), len(registry))
}

func offer(t *testing.T, content object) *gnomonv1.Entity {
	t.Helper()
	made, err := structpb.NewStruct(content)
	require.NoError(t, err)
	return &gnomonv1.Entity{Type: "offer", Id: "1", Content: made}
}
