// Package stagetest holds a stage to the contract of gnomon.v1.StageService, for the
// tests of those who write stages: Go code, or a server in any language (see Dial).
package stagetest

import (
	"context"
	"log/slog"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/stages"
)

// Case is an entity that a stage is asked about.
type Case struct {
	// Content of the entity. Default: empty.
	Content map[string]any
	// State of the stage. Default: it has none.
	State proto.Message
	// Created is when the entity was put first. Default: an hour ago.
	Created time.Time
	// Cause of the visit. Default: the entity changed.
	Cause gnomonv1.ProcessRequest_Cause
}

func (c Case) cause() gnomonv1.ProcessRequest_Cause {
	if c.Cause == gnomonv1.ProcessRequest_CAUSE_UNSPECIFIED {
		return gnomonv1.ProcessRequest_CHANGE
	}
	return c.Cause
}

// Answers are what a stage said of a case.
type Answers struct {
	Should *gnomonv1.ShouldProcessResponse
	Done   *gnomonv1.ProcessResponse
	// After is the content as it stands then; nil if the stage deleted it.
	After map[string]any
}

// T is what the checks need of a test; *testing.T has it.
type T interface {
	require.TestingT
	Helper()
	Context() context.Context
	Cleanup(f func())
}

const (
	// clockTolerance is how far two answers' timers may lie apart that a stage counts from
	// now.
	clockTolerance = 5 * time.Second
	// unknownField is in the content and in the messages, as a later version may have it.
	unknownField = "stagetestUnknown"
)

// Check asks a stage about a case, and again, and in other ways that must not matter:
//
//   - twice the same question has the same answer (G-10), but for timers that the stage
//     counts from now;
//   - a state that is absent is no error, nor is a field that the stage does not know, in
//     the content or in a message, and it stays in the content;
//   - visited for a change though it did not ask for it, it changes nothing (G-14);
//   - it settles: visited again with what it made, it changes nothing more.
//
// It returns the answers, for the test to look at. The declaration gives the name and the
// time limits.
func Check(t T, d stages.Declaration, s stages.Stage, c Case) Answers {
	t.Helper()
	k := &checked{t: t, stage: stages.Declare(d, s, slog.New(slog.DiscardHandler))}
	first := k.ask(c)
	k.same(first, k.ask(c), "asked the same again")
	k.same(first, k.askWithUnknownFields(c), "asked with fields in the messages that it does not know")
	k.unknownContent(c, first)
	if c.State != nil {
		without := c
		without.State = nil
		k.ask(without)
	}
	if !wants(first.Should) && c.cause() == gnomonv1.ProcessRequest_CHANGE {
		require.True(k.t, same(contentOf(k.t, c), first.After), "ShouldProcess did not want the visit, and Process changed something: it must check the need itself (G-14)")
	}
	k.settles(c, first)
	return first
}

// checked is a stage under test.
type checked struct {
	t     T
	stage *stages.Declared
}

func (k *checked) requests(c Case) (*gnomonv1.ShouldProcessRequest, *gnomonv1.ProcessRequest) {
	k.t.Helper()
	content, err := structpb.NewStruct(contentOf(k.t, c))
	require.NoError(k.t, err, "the case's content is no JSON")
	created := c.Created
	if created.IsZero() {
		created = time.Now().Add(-time.Hour)
	}
	e := &gnomonv1.Entity{
		Type: k.stage.EntityType, Id: "stagetest", Content: content, Version: 1,
		CreateTime: timestamppb.New(created), UpdateTime: timestamppb.New(created),
	}
	state := &gnomonv1.StageState{}
	if c.State != nil {
		state.Version, state.UpdateTime = 1, e.GetCreateTime()
		if packed, ok := c.State.(*anypb.Any); ok {
			state.State = packed
		} else {
			state.State, err = anypb.New(c.State)
			require.NoError(k.t, err)
		}
	}
	return &gnomonv1.ShouldProcessRequest{Stage: k.stage.Name, Entity: e, State: state},
		&gnomonv1.ProcessRequest{Stage: k.stage.Name, Entity: e, State: state, VisitId: "stagetest", Cause: c.cause()}
}

func (k *checked) ask(c Case) Answers {
	k.t.Helper()
	should, process := k.requests(c)
	return k.call(c, should, process)
}

func (k *checked) call(c Case, should *gnomonv1.ShouldProcessRequest, process *gnomonv1.ProcessRequest) Answers {
	k.t.Helper()
	var a Answers
	var err error
	a.Should, err = k.stage.ShouldProcess(k.t.Context(), should)
	require.NoError(k.t, err)
	a.Done, err = k.stage.Process(k.t.Context(), process)
	require.NoError(k.t, err)
	a.After = after(contentOf(k.t, c), a.Done)
	return a
}

// askWithUnknownFields asks as a later version of gnomon would.
func (k *checked) askWithUnknownFields(c Case) Answers {
	k.t.Helper()
	should, process := k.requests(c)
	// Field 1000, a varint of 1.
	unknown := []byte{0xc0, 0x3e, 0x01}
	for _, m := range []proto.Message{should, process, process.GetEntity(), process.GetState()} {
		m.ProtoReflect().SetUnknown(unknown)
	}
	return k.call(c, should, process)
}

// unknownContent has a field in the content that no stage knows.
func (k *checked) unknownContent(c Case, first Answers) {
	k.t.Helper()
	more := c
	more.Content = contentOf(k.t, c)
	more.Content[unknownField] = map[string]any{"of": "a later version"}
	a := k.ask(more)
	if a.After == nil {
		require.Nil(k.t, first.After, "with a field in the content that it does not know it deletes the entity")
		return
	}
	require.Equal(k.t, more.Content[unknownField], a.After[unknownField], "a field of the content that the stage does not know must stay as it is")
	delete(a.After, unknownField)
	require.True(k.t, same(first.After, a.After), "with a field in the content that it does not know it makes of it %v and without %v", a.After, first.After)
}

// settles visits again with what the stage made of the case.
func (k *checked) settles(c Case, a Answers) {
	k.t.Helper()
	if a.After == nil {
		return
	}
	again := c
	again.Content = a.After
	if a.Done.GetState() != nil {
		again.State = a.Done.GetState()
	}
	b := k.ask(again)
	require.True(k.t, same(a.After, b.After), "visited again with what it made, it changes that once more: %v, %v", a.After, b.After)
}

func (k *checked) same(a, b Answers, when string) {
	k.t.Helper()
	require.True(k.t, sameAnswer(a.Should, b.Should), "ShouldProcess answers differently when %s: {%v} and {%v}", when, a.Should, b.Should)
	require.True(k.t, sameResult(a.Done, b.Done), "Process answers differently when %s: {%v} and {%v}", when, a.Done, b.Done)
}
