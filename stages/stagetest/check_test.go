package stagetest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/stages"
	"gnomon/stages/stagetest"
)

// recorder is a test that may fail.
type recorder struct {
	*testing.T

	said string
}

func (r *recorder) Errorf(format string, args ...any) { r.said += fmt.Sprintf(format, args...) }
func (r *recorder) FailNow()                          { runtime.Goexit() }

// check is what Check says of a stage, empty if nothing.
func check(t *testing.T, s stages.Stage, c stagetest.Case) string {
	t.Helper()
	r := &recorder{T: t}
	var checking sync.WaitGroup
	checking.Go(func() { stagetest.Check(r, stages.Declaration{Name: "price", EntityType: "offer"}, s, c) })
	checking.Wait()
	return r.said
}

// stage sets a price where there is none, by a patch, and may be spoiled.
type stage struct {
	gnomonv1.UnimplementedStageServiceServer

	should  func(*gnomonv1.ShouldProcessRequest, *gnomonv1.ShouldProcessResponse) error
	process func(*gnomonv1.ProcessRequest, *gnomonv1.ProcessResponse) error
}

func unpriced(e *gnomonv1.Entity) bool {
	_, priced := e.GetContent().GetFields()["price"]
	return !priced
}

func (s stage) ShouldProcess(_ context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	a := &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_ShouldProcess{ShouldProcess: unpriced(r.GetEntity())}}
	if s.should != nil {
		return a, s.should(r, a)
	}
	return a, nil
}

func (s stage) Process(_ context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	a := &gnomonv1.ProcessResponse{Timer: timestamppb.New(time.Now().Add(time.Hour))}
	if unpriced(r.GetEntity()) {
		a.EntityUpdate = &gnomonv1.ProcessResponse_MergePatch{MergePatch: &structpb.Struct{Fields: map[string]*structpb.Value{"price": structpb.NewNumberValue(7)}}}
	}
	if s.process != nil {
		return a, s.process(r, a)
	}
	return a, nil
}

func TestGoodStagesPass(t *testing.T) {
	t.Parallel()
	for _, c := range []stagetest.Case{
		{}, {Content: map[string]any{"price": 8}}, {Content: map[string]any{"title": "x"}, State: wrapperspb.String("s"), Created: time.Now(), Cause: gnomonv1.ProcessRequest_TIMER},
	} {
		require.Empty(t, check(t, stage{}, c))
	}
	got := stagetest.Check(t, stages.Declaration{Name: "price", EntityType: "offer"}, stage{}, stagetest.Case{Content: map[string]any{"title": "x"}})
	require.Equal(t, map[string]any{"title": "x", "price": 7.0}, got.After)
	require.True(t, got.Should.GetShouldProcess())

	deletes := stage{process: func(_ *gnomonv1.ProcessRequest, a *gnomonv1.ProcessResponse) error {
		a.EntityUpdate = &gnomonv1.ProcessResponse_Delete{Delete: &emptypb.Empty{}}
		return nil
	}}
	require.Nil(t, stagetest.Check(t, stages.Declaration{Name: "price", EntityType: "offer"}, deletes, stagetest.Case{}).After)
}

// Each rule is one that a stage can break.
func TestBadStagesDoNot(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	for want, tt := range map[string]struct {
		stage stage
		of    stagetest.Case
	}{
		"has neither should_process nor timer": {stage: stage{should: func(_ *gnomonv1.ShouldProcessRequest, a *gnomonv1.ShouldProcessResponse) error {
			a.Answer = nil
			return nil
		}}},
		"ShouldProcess answers differently when asked the same again": {stage: stage{should: func(_ *gnomonv1.ShouldProcessRequest, a *gnomonv1.ShouldProcessResponse) error {
			a.Answer = &gnomonv1.ShouldProcessResponse_ShouldProcess{ShouldProcess: calls.Add(1)%2 == 0}
			return nil
		}}},
		"Process answers differently when asked the same again": {stage: stage{process: func(_ *gnomonv1.ProcessRequest, a *gnomonv1.ProcessResponse) error {
			a.Timer = timestamppb.New(time.Now().Add(time.Duration(calls.Add(1)) * time.Minute))
			return nil
		}}},
		"with fields in the messages that it does not know": {stage: stage{process: func(r *gnomonv1.ProcessRequest, a *gnomonv1.ProcessResponse) error {
			a.KeepTimer = len(r.ProtoReflect().GetUnknown()) > 0
			if a.GetKeepTimer() {
				a.Timer = nil
			}
			return nil
		}}},
		"a field of the content that the stage does not know must stay": {stage: stage{process: func(_ *gnomonv1.ProcessRequest, a *gnomonv1.ProcessResponse) error {
			a.EntityUpdate = &gnomonv1.ProcessResponse_Content{Content: &structpb.Struct{Fields: map[string]*structpb.Value{"price": structpb.NewNumberValue(7)}}}
			return nil
		}}},
		"no state": {stage: stage{process: func(r *gnomonv1.ProcessRequest, _ *gnomonv1.ProcessResponse) error {
			if r.GetState().GetState() == nil {
				return errors.New("no state")
			}
			return nil
		}}, of: stagetest.Case{State: wrapperspb.String("s")}},
		"it must check the need itself (G-14)": {stage: stage{process: func(_ *gnomonv1.ProcessRequest, a *gnomonv1.ProcessResponse) error {
			a.EntityUpdate = &gnomonv1.ProcessResponse_MergePatch{MergePatch: &structpb.Struct{Fields: map[string]*structpb.Value{"price": structpb.NewNumberValue(7)}}}
			return nil
		}}, of: stagetest.Case{Content: map[string]any{"price": 8}}},
		"it changes that once more": {stage: stage{process: func(r *gnomonv1.ProcessRequest, a *gnomonv1.ProcessResponse) error {
			price := r.GetEntity().GetContent().GetFields()["price"].GetNumberValue() + 1
			a.EntityUpdate = &gnomonv1.ProcessResponse_MergePatch{MergePatch: &structpb.Struct{Fields: map[string]*structpb.Value{"price": structpb.NewNumberValue(price)}}}
			return nil
		}}},
		"with a field in the content that it does not know it makes": {stage: stage{process: func(r *gnomonv1.ProcessRequest, a *gnomonv1.ProcessResponse) error {
			fields := maps.Clone(r.GetEntity().GetContent().GetFields())
			fields["price"] = structpb.NewNumberValue(float64(len(fields)))
			a.EntityUpdate = &gnomonv1.ProcessResponse_Content{Content: &structpb.Struct{Fields: fields}}
			return nil
		}}, of: stagetest.Case{Content: map[string]any{"title": "x"}}},
	} {
		require.Contains(t, check(t, tt.stage, tt.of), want)
	}
}

// Dial calls a server, which may be any, and waits for one that is starting.
func TestDial(t *testing.T) {
	t.Parallel()
	var listen net.ListenConfig
	listener, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := grpc.NewServer()
	gnomonv1.RegisterStageServiceServer(g, stage{})
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(listener) })
	defer serving.Wait()
	defer g.Stop()
	s := stagetest.Dial(t, listener.Addr().String())
	require.Empty(t, check(t, s, stagetest.Case{}))
	_, err = s.(stages.Saver).OnSaved(t.Context(), &gnomonv1.OnSavedRequest{})
	require.ErrorContains(t, err, "Unimplemented")
}
