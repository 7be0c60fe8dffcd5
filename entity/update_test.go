package entity_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/entity"
)

func object(t *testing.T, text string) *structpb.Struct {
	t.Helper()
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &fields))
	s, err := structpb.NewStruct(fields)
	require.NoError(t, err)
	return s
}

func patch(p *structpb.Struct) *gnomonv1.ProcessResponse {
	return &gnomonv1.ProcessResponse{EntityUpdate: &gnomonv1.ProcessResponse_MergePatch{MergePatch: p}}
}

func content(c *structpb.Struct) *gnomonv1.ProcessResponse {
	return &gnomonv1.ProcessResponse{EntityUpdate: &gnomonv1.ProcessResponse_Content{Content: c}}
}

// G-16: the cases of RFC 7396, appendix A, whose original and patch are objects.
func TestMergePatch(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"a":"foo"}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
	} {
		before := object(t, c[0])
		kept := proto.CloneOf(before)
		u, err := entity.UpdateOf(before, patch(object(t, c[1])))
		require.NoError(t, err)
		got, err := protojson.Marshal(u.Content)
		require.NoError(t, err)
		require.JSONEq(t, c[2], string(got), "%s patched by %s", c[0], c[1])
		require.True(t, proto.Equal(kept, before), "the original stays as it is")
	}
}

// G-16: each of an answer's parts may be absent.
func TestUpdateOf(t *testing.T) {
	t.Parallel()
	u, err := entity.UpdateOf(nil, &gnomonv1.ProcessResponse{})
	require.NoError(t, err)
	require.Equal(t, entity.Update{}, u)

	u, err = entity.UpdateOf(nil, &gnomonv1.ProcessResponse{EntityUpdate: &gnomonv1.ProcessResponse_Delete{Delete: &emptypb.Empty{}}})
	require.NoError(t, err)
	require.True(t, u.Delete)

	u, err = entity.UpdateOf(object(t, `{"a":1}`), content(nil))
	require.NoError(t, err)
	require.NotNil(t, u.Content, "an empty object is not the same as none")
	require.Empty(t, u.Content.GetFields())

	u, err = entity.UpdateOf(nil, &gnomonv1.ProcessResponse{State: &anypb.Any{}})
	require.NoError(t, err)
	require.NotNil(t, u.State, "an empty Any is not the same as none")
	require.Nil(t, u.Content)
}

// What a stage answers is checked before it is saved.
func TestUpdateOfRefuses(t *testing.T) {
	t.Parallel()
	deep := structpb.NewNumberValue(1)
	for range 101 {
		deep = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{deep}})
	}
	one := func(v *structpb.Value) *structpb.Struct {
		return &structpb.Struct{Fields: map[string]*structpb.Value{"secret": v}}
	}
	big, err := anypb.New(wrapperspb.String(strings.Repeat("x", entity.MaxState)))
	require.NoError(t, err)
	for want, r := range map[string]*gnomonv1.ProcessResponse{
		"at most 262144 are":       content(one(structpb.NewStringValue(strings.Repeat("x", entity.MaxContent)))),
		"not finite":               patch(one(structpb.NewNumberValue(math.NaN()))),
		"a value that is nothing":  content(one(&structpb.Value{})),
		"not UTF-8":                content(one(structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewStringValue("\xff")}}))),
		"string that is not UTF-8": content(&structpb.Struct{Fields: map[string]*structpb.Value{"\xff": structpb.NewBoolValue(true)}}),
		"nested":                   content(one(deep)),
		"at most 65536 are":        {State: big},
		"must name the type":       {State: &anypb.Any{Value: []byte("x")}},
		"not a valid time":         {Timer: &timestamppb.Timestamp{Seconds: math.MaxInt64}},
		"sets the timer and keeps": {Timer: timestamppb.New(noon), KeepTimer: true},
	} {
		_, err := entity.UpdateOf(&structpb.Struct{}, r)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
	}
}
