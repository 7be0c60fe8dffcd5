package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// CodeUnknownKind is the code of the problem of a change that this installation has no
// kind for.
const CodeUnknownKind = "UNKNOWN_KIND"

// Set has the kinds of an installation by name.
type Set map[string]Kind

// NewSet registers kinds. Two of one name are an error.
func NewSet(kinds ...Kind) (Set, error) {
	s := Set{}
	for _, k := range kinds {
		if _, taken := s[k.Name()]; taken {
			return nil, fmt.Errorf("changes: the kind %q is registered twice", k.Name())
		}
		s[k.Name()] = k
	}
	return s, nil
}

// NameOf names the kind of a change, "" if no case is set that this program knows.
func NameOf(c *gnomonv1.Change) string {
	m := c.ProtoReflect()
	if f := m.WhichOneof(m.Descriptor().Oneofs().ByName("change")); f != nil {
		return string(f.Name())
	}
	return ""
}

// Validate has each kind judge its changes, and returns all problems in the order of
// the changes. An error is that of a kind that could not judge.
func (s Set) Validate(ctx context.Context, of Batch, all []Subject) ([]*gnomonv1.Problem, error) {
	byKind := map[string][]Subject{}
	var names []string
	for _, one := range all {
		name := NameOf(one.Change)
		if _, seen := byKind[name]; !seen {
			names = append(names, name)
		}
		byKind[name] = append(byKind[name], one)
	}
	var found []*gnomonv1.Problem
	for _, name := range names {
		kind, ok := s[name]
		if !ok {
			for _, one := range byKind[name] {
				found = append(found, Hard(one.Index, CodeUnknownKind, name, "this installation has no such kind of change"))
			}
			continue
		}
		problems, err := kind.Validate(ctx, of, byKind[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		found = append(found, problems...)
	}
	slices.SortStableFunc(found, func(a, b *gnomonv1.Problem) int {
		return cmp.Compare(a.GetChangeIndex(), b.GetChangeIndex())
	})
	return found, nil
}

// defaultLimit is the time limit of a change that no kind is there for.
const defaultLimit = 10 * time.Second

// TimeLimit is how long one application of a change takes at most.
func (s Set) TimeLimit(c *gnomonv1.Change) time.Duration {
	if kind, ok := s[NameOf(c)]; ok {
		return kind.TimeLimit(c)
	}
	return defaultLimit
}

// Apply has the change's kind apply it. A change that this installation has no kind for
// is an infrastructure error: another worker may have it.
func (s Set) Apply(ctx context.Context, of Batch, one Subject, t Turn) error {
	kind, ok := s[NameOf(one.Change)]
	if !ok {
		return fmt.Errorf("this worker has no kind %q", NameOf(one.Change))
	}
	return kind.Apply(ctx, of, one, t)
}

// Close gives up what the kinds keep.
func (s Set) Close() error {
	var errs []error
	for _, k := range s {
		if c, ok := k.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
