package stagetest

import (
	"maps"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// wants says whether a stage asked for a visit, by a yes or by a timer that is due.
func wants(r *gnomonv1.ShouldProcessResponse) bool {
	if r.GetTimer() != nil {
		return !r.GetTimer().AsTime().After(time.Now())
	}
	return r.GetShouldProcess()
}

// contentOf is the case's content as JSON has it, not shared with the case.
func contentOf(t T, c Case) map[string]any {
	t.Helper()
	content, err := structpb.NewStruct(c.Content)
	require.NoError(t, err, "the case's content is no JSON")
	return content.AsMap()
}

// after is a content after what a stage made of it, nil if that was its end.
func after(content map[string]any, r *gnomonv1.ProcessResponse) map[string]any {
	switch {
	case r.GetDelete() != nil:
		return nil
	case r.GetContent() != nil:
		return r.GetContent().AsMap()
	case r.GetMergePatch() != nil:
		return patched(content, r.GetMergePatch().AsMap())
	default:
		return content
	}
}

// patched applies a merge patch (RFC 7396).
func patched(content, patch map[string]any) map[string]any {
	result := maps.Clone(content)
	if result == nil {
		result = map[string]any{}
	}
	for name, value := range patch {
		within, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(result, name)
		case isObject:
			before, _ := result[name].(map[string]any)
			result[name] = patched(before, within)
		default:
			result[name] = value
		}
	}
	return result
}

func same(a, b map[string]any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	x, errX := structpb.NewStruct(a)
	y, errY := structpb.NewStruct(b)
	return errX == nil && errY == nil && proto.Equal(x, y)
}

func sameAnswer(a, b *gnomonv1.ShouldProcessResponse) bool {
	if _, ok := a.GetAnswer().(*gnomonv1.ShouldProcessResponse_Timer); ok {
		return near(a.GetTimer(), b.GetTimer())
	}
	return proto.Equal(a, b)
}

func sameResult(a, b *gnomonv1.ProcessResponse) bool {
	if !near(a.GetTimer(), b.GetTimer()) {
		return false
	}
	a, b = proto.CloneOf(a), proto.CloneOf(b)
	a.Timer, b.Timer = nil, nil
	return proto.Equal(a, b)
}

// near: a timer that is counted from now is a little later the second time.
func near(a, b *timestamppb.Timestamp) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.AsTime().Sub(b.AsTime()).Abs() <= clockTolerance
}
