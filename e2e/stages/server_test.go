package stages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// server serves all the stages there are and writes down every call.
type server struct {
	gnomonv1.UnimplementedStageServiceServer

	record *recorder
}

// serveStages serves at an address until ctx ends, and says where on stdout.
func serveStages(ctx context.Context, address, path string) error {
	record, err := openRecorder(path)
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	s := grpc.NewServer()
	gnomonv1.RegisterStageServiceServer(s, &server{record: record})
	context.AfterFunc(ctx, s.Stop)
	fmt.Println(listener.Addr())
	return s.Serve(listener)
}

var errPlanted = errors.New("this stage fails now and then")

// failing is an error as often as a stage is to have one.
func failing(b behaviour) error {
	if rand.Float64() < b.fails {
		return status.Error(codes.Unavailable, errPlanted.Error())
	}
	return nil
}

// ShouldProcess implements the service.
func (s *server) ShouldProcess(_ context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	b, l := behaviours[r.GetStage()], of(asked, r.GetStage(), r.GetEntity(), r.GetState())
	if err := failing(b); err != nil {
		l.Answer = "failed"
		s.record.write(l)
		return nil, err
	}
	patch, _ := b.wants(l.Content, l.State)
	if patch != nil && b.timer > 0 {
		l.Answer = "timer"
		s.record.write(l)
		return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_Timer{Timer: timestamppb.New(time.Now().Add(b.timer))}}, nil
	}
	l.Answer = fmt.Sprint(patch != nil)
	s.record.write(l)
	return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_ShouldProcess{ShouldProcess: patch != nil}}, nil
}

// Process implements the service. It ends only when its time is over, whoever waits.
func (s *server) Process(_ context.Context, r *gnomonv1.ProcessRequest) (answer *gnomonv1.ProcessResponse, err error) {
	b, l := behaviours[r.GetStage()], of(began, r.GetStage(), r.GetEntity(), r.GetState())
	l.Call, l.Visit = s.record.call(), r.GetVisitId()
	s.record.write(l)
	end := line{What: ended, Call: l.Call, Stage: l.Stage, ID: l.ID, Version: l.Version, Visit: l.Visit, Answer: "failed"}
	defer func() { s.record.write(end) }()
	<-time.After(b.takes())
	if err := failing(b); err != nil {
		return nil, err
	}
	patch, n := b.wants(l.Content, l.State)
	if patch == nil {
		end.Answer = "nothing"
		return &gnomonv1.ProcessResponse{KeepTimer: true}, nil
	}
	// The same word goes into the content and into the state.
	patch = maps.Clone(patch)
	patch[wordOf(l.Stage)] = l.Call
	content, err := structpb.NewStruct(patch)
	if err != nil {
		return nil, err
	}
	state, err := structpb.NewStruct(map[string]any{"stage": l.Stage, "id": l.ID, "word": l.Call, "n": n})
	if err != nil {
		return nil, err
	}
	held, err := anypb.New(state)
	if err != nil {
		return nil, err
	}
	end.Answer = "made"
	return &gnomonv1.ProcessResponse{EntityUpdate: &gnomonv1.ProcessResponse_MergePatch{MergePatch: content}, State: held}, nil
}

// wordOf is the content's field of a stage's last word.
func wordOf(stage string) string { return stage + "Word" }

// OnSaved implements the service. One in five hundred it has taken and says that it has not.
func (s *server) OnSaved(_ context.Context, r *gnomonv1.OnSavedRequest) (*gnomonv1.OnSavedResponse, error) {
	saying := r.GetRecord()
	l := of(saved, r.GetStage(), saying.GetEntity(), saying.GetState())
	l.By, l.Sequence, l.Changed = saying.GetStage(), saying.GetSequence(), saying.GetChanged()
	s.record.write(l)
	if rand.Float64() < 0.002 {
		return nil, status.Error(codes.Unavailable, errPlanted.Error())
	}
	return &gnomonv1.OnSavedResponse{}, nil
}
