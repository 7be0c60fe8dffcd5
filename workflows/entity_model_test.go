package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/stages"
	"gnomon/store"
)

// played is an entity of the model test: what its stages saw, and what was published.
// Anything that may not be is noted in wrong.
type played struct {
	key     store.EntityKey
	outside func(why string) // something outside changes the entity in the middle of a visit

	mu    sync.Mutex
	draw  *rand.Rand
	calm  bool // nothing fails any more
	wrong []string
	turn  string // who works now
	// covered is the last version that a stage has said no to, or that it visited.
	covered map[string]int64
	calls   int

	last    int64 // sequence of the last record that was published first
	records []*gnomonv1.SavedRecord
}

func (p *played) wrongf(format string, args ...any) {
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}

// chance is true in so many of a hundred cases.
func (p *played) chance(percent int) bool { return p.draw.IntN(100) < percent }

// interests are the fields of each stage; none: all.
var interests = map[string][]string{"alpha": {"x"}, "beta": {"y", "alpha"}, "gamma": nil, "delta": {"x", "y", "gamma"}, "omega": nil}

// set are the stages: alpha is slow, beta changes what others watch, gamma plays
// ping-pong with delta, omega deletes.
func (p *played) set() *stages.Set {
	var all []*stages.Declared
	for name, fields := range interests {
		d := stages.Declaration{Name: name, EntityType: p.key.Type, Go: name, Fields: fields, ProcessTimeout: time.Minute, ShouldProcessTimeout: time.Minute}
		if name == "alpha" {
			d.Parallelism = 1
		}
		all = append(all, &stages.Declared{Declaration: d, Stage: playedStage{p, name}})
	}
	return stages.NewSet(all...)
}

type playedStage struct {
	*played

	name string
}

// saw notes that the stage needs nothing more for a version.
func (s playedStage) saw(version int64) { s.covered[s.name] = max(s.covered[s.name], version) }

// ShouldProcess implements stages.Stage.
func (s playedStage) ShouldProcess(_ context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.own(r.GetState())
	switch n := s.draw.IntN(10); {
	case n == 0 && !s.calm:
		return nil, errors.New("no answer")
	case n < 5:
		return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_ShouldProcess{ShouldProcess: true}}, nil
	case n == 5 && !s.calm:
		s.saw(r.GetEntity().GetVersion())
		return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_Timer{Timer: timestamppb.New(modelStart.Add(s.someTime()))}}, nil
	default:
		s.saw(r.GetEntity().GetVersion())
		return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_ShouldProcess{}}, nil
	}
}

func (p *played) someTime() time.Duration { return time.Duration(p.draw.IntN(4000)) * time.Hour }

// own checks that a stage is given its own state (G-13).
func (s playedStage) own(state *gnomonv1.StageState) {
	if owner, _ := unpackState(state); owner != "" && owner != s.name {
		s.wrongf("%s was given the state of %s", s.name, owner)
	}
}

// Process implements stages.Stage.
func (s playedStage) Process(_ context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	s.mu.Lock()
	s.calls++
	s.own(r.GetState())
	if s.turn != "" {
		s.wrongf("%s and %s work side by side", s.turn, s.name)
	}
	s.turn = s.name
	slow, conflict := s.name == "alpha", !s.calm && s.chance(20)
	s.mu.Unlock()
	if slow {
		for range 100 {
			runtime.Gosched()
		}
	}
	if conflict {
		s.outside(s.name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = ""
	if !s.calm && s.chance(10) {
		return nil, errors.New("poison")
	}
	return s.answer(r), nil
}

// answer changes some of all that may be changed.
func (s playedStage) answer(r *gnomonv1.ProcessRequest) *gnomonv1.ProcessResponse {
	answer := &gnomonv1.ProcessResponse{}
	_, count := unpackState(r.GetState())
	if s.chance(60) {
		answer.State = packState(s.name, count+1)
	}
	if !s.calm {
		switch s.draw.IntN(4) {
		case 0:
			answer.Timer = timestamppb.New(modelStart.Add(s.someTime()))
		case 1:
			answer.KeepTimer = true
		}
	}
	field := s.name
	switch {
	case s.calm && s.chance(80):
	case s.name == "omega" && s.chance(3):
		answer.EntityUpdate = &gnomonv1.ProcessResponse_Delete{Delete: &emptypb.Empty{}}
		answer.State = nil
	case s.chance(30):
		answer.EntityUpdate = &gnomonv1.ProcessResponse_MergePatch{MergePatch: &structpb.Struct{Fields: map[string]*structpb.Value{
			field: structpb.NewNumberValue(float64(s.draw.IntN(3))),
		}}}
	case s.chance(10):
		content := &structpb.Struct{Fields: map[string]*structpb.Value{}}
		maps.Copy(content.GetFields(), r.GetEntity().GetContent().GetFields())
		content.Fields[field] = structpb.NewNumberValue(float64(s.draw.IntN(1000)))
		answer.EntityUpdate = &gnomonv1.ProcessResponse_Content{Content: content}
	}
	return answer
}

func packState(stage string, count int) *anypb.Any {
	state, err := anypb.New(wrapperspb.String(fmt.Sprintf("%s %d", stage, count)))
	if err != nil {
		panic(err)
	}
	return state
}

func unpackState(s *gnomonv1.StageState) (stage string, count int) {
	text := &wrapperspb.StringValue{}
	if s.GetState() == nil || s.GetState().UnmarshalTo(text) != nil {
		return "", 0
	}
	if _, err := fmt.Sscanf(text.GetValue(), "%s %d", &stage, &count); err != nil {
		return text.GetValue(), 0
	}
	return stage, count
}

// Publish implements publish.Publisher: it takes a part and fails, and notes what came.
func (p *played) Publish(_ context.Context, records []*gnomonv1.SavedRecord) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range records {
		if !p.calm && p.chance(20) {
			return errors.New("the publisher is down")
		}
		switch {
		case r.GetSequence() <= p.last: // again
		case r.GetSequence() == p.last+1:
			p.last = r.GetSequence()
			p.records = append(p.records, r)
		default:
			p.wrongf("record %d was published after %d", r.GetSequence(), p.last)
			p.last = r.GetSequence()
		}
	}
	return nil
}

// Close implements publish.Publisher.
func (*played) Close() error { return nil }

// visited notes what visits have seen, by their results.
func (p *played) visited(stage string, version int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	playedStage{p, stage}.saw(version)
}

// settled says all that is wrong once everything is quiet: every stage has seen all that
// concerns it, every commit is one step of what was published, and what stands is the
// last of it.
func (p *played) settled(stands *gnomonv1.Entity, states map[string]*gnomonv1.StageState) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var version int64
	var content *structpb.Struct
	counts := map[string]int{}
	versions := map[string]int64{}
	concerned := map[string]int64{}
	for _, r := range p.records {
		if r.GetChanged() {
			if r.GetEntity().GetVersion() != version+1 {
				p.wrongf("version %d came after %d", r.GetEntity().GetVersion(), version)
			}
			version = r.GetEntity().GetVersion()
			fields := differing(content, r.GetEntity().GetContent())
			content = r.GetEntity().GetContent()
			for stage, interest := range interests {
				if stage != r.GetStage() && (interest == nil || slices.ContainsFunc(fields, func(f string) bool { return slices.Contains(interest, f) })) {
					concerned[stage] = version
				}
			}
		}
		if r.GetDeleted() {
			counts, versions, concerned = map[string]int{}, map[string]int64{}, map[string]int64{}
			content = nil
			continue
		}
		if r.GetStage() == "" || r.GetState().GetVersion() == versions[r.GetStage()] {
			continue
		}
		owner, count := unpackState(r.GetState())
		switch before := counts[r.GetStage()]; {
		case owner != r.GetStage():
			p.wrongf("record %d has the state %q of %s", r.GetSequence(), owner, r.GetStage())
		case count != before+1 && count != before+1000:
			p.wrongf("the state of %s went from %d to %d: a write was lost", owner, before, count)
		}
		counts[r.GetStage()], versions[r.GetStage()] = count, r.GetState().GetVersion()
	}
	if stands == nil {
		return p.wrong
	}
	if stands.GetVersion() != version {
		p.wrongf("version %d stands and %d was published last", stands.GetVersion(), version)
	}
	for stage := range interests {
		if p.covered[stage] < concerned[stage] {
			p.wrongf("%s has seen version %d of %d", stage, p.covered[stage], concerned[stage])
		}
		if _, count := unpackState(states[stage]); count != counts[stage] {
			p.wrongf("%s has the state %d, and %d was published last", stage, count, counts[stage])
		}
	}
	return p.wrong
}

// differing are the top-level fields that differ.
func differing(a, b *structpb.Struct) []string {
	var all []string
	for name, value := range b.GetFields() {
		if old, ok := a.GetFields()[name]; !ok || old.String() != value.String() {
			all = append(all, name)
		}
	}
	for name := range a.GetFields() {
		if _, ok := b.GetFields()[name]; !ok {
			all = append(all, name)
		}
	}
	return all
}

// modelStart is when the model's entities begin.
var modelStart = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
