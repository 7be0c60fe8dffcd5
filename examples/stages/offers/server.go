package offers

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/stages"
)

// Server serves stages as gnomon.v1.StageService, each by its name.
type Server struct {
	gnomonv1.UnimplementedStageServiceServer

	Stages stages.Registry
}

// ShouldProcess asks the stage that is named.
func (s Server) ShouldProcess(ctx context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	stage, err := s.named(r.GetStage())
	if err != nil {
		return nil, err
	}
	return stage.ShouldProcess(ctx, r)
}

// Process has the stage that is named work.
func (s Server) Process(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	stage, err := s.named(r.GetStage())
	if err != nil {
		return nil, err
	}
	return stage.Process(ctx, r)
}

func (s Server) named(name string) (stages.Stage, error) {
	stage, ok := s.Stages[name]
	if !ok {
		return nil, status.Errorf(codes.NotFound, "there is no stage %q here, but %q", name, slices.Sorted(maps.Keys(s.Stages)))
	}
	return stage, nil
}
