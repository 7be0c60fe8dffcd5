package offers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// DefaultVideoURL answers 200 for a video that can be seen, and 4xx for one that cannot.
// {id} stands for the video's id.
const DefaultVideoURL = "https://www.youtube.com/oembed?format=json&url=https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3D{id}"

// VideoConfig says where videos are asked for. Zero fields have defaults.
type VideoConfig struct {
	// URL has {id} for the video's id. Default DefaultVideoURL.
	URL string
	// Timeout bounds one request. Default 5 seconds.
	Timeout time.Duration
	// Every is how long after a check the next one is due. Default 24 hours.
	Every time.Duration
}

// Video checks whether an offer's video can be seen (seed 004, example 5), when it is
// changed and once a day. Its state is the id that was checked last, a
// google.protobuf.StringValue. Asking changes nothing at the other side, so that it may
// be asked any number of times (G-10).
type Video struct {
	config VideoConfig
	client *http.Client
}

// NewVideo makes the stage.
func NewVideo(c VideoConfig) *Video {
	if c.URL == "" {
		c.URL = DefaultVideoURL
	}
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	if c.Every == 0 {
		c.Every = 24 * time.Hour
	}
	return &Video{config: c, client: &http.Client{Timeout: c.Timeout}}
}

// ShouldProcess wants an offer whose video is another than was checked last. A video that
// stays is left to the timer.
func (*Video) ShouldProcess(_ context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	return answer(videoOf(r.GetEntity()) != checked(r.GetState())), nil
}

// Process asks for the video, notes whether it is available, and plans the next check.
func (v *Video) Process(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	id := videoOf(r.GetEntity())
	state, err := anypb.New(wrapperspb.String(id))
	if err != nil {
		return nil, err
	}
	if id == "" {
		return &gnomonv1.ProcessResponse{State: state}, nil
	}
	if id == checked(r.GetState()) && r.GetCause() == gnomonv1.ProcessRequest_CHANGE {
		// Nobody asked for this visit, or the question was lost on its way (G-14).
		return &gnomonv1.ProcessResponse{KeepTimer: true}, nil
	}
	available, err := v.available(ctx, id)
	if err != nil {
		return nil, err
	}
	result := &gnomonv1.ProcessResponse{}
	if noted, ok := field(r.GetEntity(), "video").GetStructValue().GetFields()["available"]; !ok || noted.GetBoolValue() != available {
		result = patch("video", structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"available": structpb.NewBoolValue(available)}}))
	}
	result.State, result.Timer = state, timestamppb.New(time.Now().Add(v.config.Every))
	return result, nil
}

// available asks. An answer that says neither yes nor no is an error: the visit is
// repeated.
func (v *Video) available(ctx context.Context, id string) (bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.ReplaceAll(v.config.URL, "{id}", url.QueryEscape(id)), http.NoBody)
	if err != nil {
		return false, err
	}
	response, err := v.client.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	// For the connection to be used again.
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20))
	switch {
	case response.StatusCode/100 == 2:
		return true, nil
	case response.StatusCode/100 == 4 && response.StatusCode != http.StatusTooManyRequests && response.StatusCode != http.StatusRequestTimeout:
		return false, nil
	default:
		return false, fmt.Errorf("the video's site answered %s", response.Status)
	}
}

func videoOf(e *gnomonv1.Entity) string {
	return field(e, "video").GetStructValue().GetFields()["id"].GetStringValue()
}

func checked(s *gnomonv1.StageState) string {
	id := &wrapperspb.StringValue{}
	if s.GetState() == nil || s.GetState().UnmarshalTo(id) != nil {
		return ""
	}
	return id.GetValue()
}
