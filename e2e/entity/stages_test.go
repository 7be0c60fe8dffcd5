package entity

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// played is a stage that does what the test says, and remembers what it was given.
type played struct {
	mu sync.Mutex
	// should and process are what it does. Default: it is interested, and changes nothing.
	should  func(r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error)
	process func(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error)
	visits  []*gnomonv1.ProcessRequest
	asked   []*gnomonv1.ShouldProcessRequest
}

// ShouldProcess implements stages.Stage.
func (p *played) ShouldProcess(_ context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	p.mu.Lock()
	p.asked = append(p.asked, proto.CloneOf(r))
	should := p.should
	p.mu.Unlock()
	if should == nil {
		return answer(true), nil
	}
	return should(r)
}

// Process implements stages.Stage.
func (p *played) Process(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	p.mu.Lock()
	p.visits = append(p.visits, proto.CloneOf(r))
	process := p.process
	p.mu.Unlock()
	if process == nil {
		return &gnomonv1.ProcessResponse{}, nil
	}
	return process(ctx, r)
}

// set changes what it does.
func (p *played) set(change func(*played)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// seen are the versions of an entity that it visited.
func (p *played) seen(id string) []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var versions []int64
	for _, r := range p.visits {
		if r.GetEntity().GetId() == id {
			versions = append(versions, r.GetEntity().GetVersion())
		}
	}
	return versions
}

// answer is yes or no.
func answer(yes bool) *gnomonv1.ShouldProcessResponse {
	return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_ShouldProcess{ShouldProcess: yes}}
}

// set is content with a field more.
func with(content *structpb.Struct, name string, value any) *structpb.Struct {
	more := proto.CloneOf(content)
	if more.Fields == nil {
		more.Fields = map[string]*structpb.Value{}
	}
	more.Fields[name], _ = structpb.NewValue(value)
	return more
}

// recorder is a publisher that keeps what it is given.
type recorder struct {
	mu      sync.Mutex
	records map[string][]*gnomonv1.SavedRecord // by type and id
	broken  error
}

// Publish implements publish.Publisher.
func (r *recorder) Publish(_ context.Context, all []*gnomonv1.SavedRecord) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return r.broken
	}
	for _, one := range all {
		if one.GetState() != nil && one.GetStage() == "" {
			return errors.New("a state of no stage")
		}
		key := one.GetEntity().GetType() + "/" + one.GetEntity().GetId()
		r.records[key] = append(r.records[key], proto.CloneOf(one))
	}
	return nil
}

// Close implements publish.Publisher.
func (*recorder) Close() error { return nil }

// of are an entity's records, each once, in the order of their sequence.
func (r *recorder) of(key string) []*gnomonv1.SavedRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	once := map[int64]*gnomonv1.SavedRecord{}
	for _, one := range r.records[key] {
		once[one.GetSequence()] = one
	}
	var all []*gnomonv1.SavedRecord
	for _, sequence := range slices.Sorted(maps.Keys(once)) {
		all = append(all, once[sequence])
	}
	return all
}

// held is a process that waits until the test lets it go on.
func held(release <-chan struct{}, then func(*gnomonv1.ProcessRequest) *gnomonv1.ProcessResponse) func(context.Context, *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	return func(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
		select {
		case <-release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if then == nil {
			return &gnomonv1.ProcessResponse{}, nil
		}
		return then(r), nil
	}
}
