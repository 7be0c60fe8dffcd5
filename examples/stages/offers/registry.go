package offers

import (
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/stages"
)

// Names of the stages.
const (
	WithdrawName = "withdraw"
	PriceName    = "predicted-price"
	PhotosName   = "photo-order"
	VideoName    = "video-available"
)

// Registry has the stages by their names.
func Registry(c VideoConfig) stages.Registry {
	return stages.Registry{WithdrawName: Withdraw{}, PriceName: Price{}, PhotosName: Photos{}, VideoName: NewVideo(c)}
}

// answer is yes or no to ShouldProcess.
func answer(yes bool) *gnomonv1.ShouldProcessResponse {
	return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_ShouldProcess{ShouldProcess: yes}}
}

// patch is a Process that sets one field of the content.
func patch(field string, value *structpb.Value) *gnomonv1.ProcessResponse {
	return &gnomonv1.ProcessResponse{EntityUpdate: &gnomonv1.ProcessResponse_MergePatch{
		MergePatch: &structpb.Struct{Fields: map[string]*structpb.Value{field: value}},
	}}
}

func field(e *gnomonv1.Entity, name string) *structpb.Value { return e.GetContent().GetFields()[name] }
