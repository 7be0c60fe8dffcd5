// Package stages is what a stage is for gnomon (seed 004, API of a stage): Go code or a
// server of gnomon.v1.StageService in any language, declared in a file with its limits.
package stages

import (
	"context"
	"slices"
	"strings"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/outbound"
)

// Stage is code that may change an entity after an event (G-01). Its methods are as those
// of gnomon.v1.StageService and must be pure: they may be called any number of times for
// the same change (G-10). Safe for concurrent use.
type Stage interface {
	// ShouldProcess says whether a change concerns the stage (G-15). An error counts as yes
	// (G-14).
	ShouldProcess(ctx context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error)
	// Process works on an entity whose turn has come (G-16). After an error it is called
	// again, later and later.
	Process(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error)
}

// Saver is a stage that wants to be told what was saved: at least once, and for one
// entity in order (G-12).
type Saver interface {
	OnSaved(ctx context.Context, r *gnomonv1.OnSavedRequest) (*gnomonv1.OnSavedResponse, error)
}

// Absentee is a stage that may know, without a call, that nobody would answer one.
type Absentee interface {
	// Absent is why a call would fail at once, or nil.
	Absent() error
}

// Declaration is what a file says of a stage.
type Declaration struct {
	// Name and EntityType are by the rules of gnomon.v1.Entity.type.
	Name, EntityType string
	// Address is where it is served over gRPC, Go the name of one that is part of the
	// worker. Exactly one is set.
	Address, Go string
	// ShouldProcessTimeout (default 1 s), ProcessTimeout (default 30 s) and OnSavedTimeout
	// (default 10 s) bound single calls.
	ShouldProcessTimeout, ProcessTimeout, OnSavedTimeout time.Duration
	// RateLimit is the greatest number of Process calls a second, of all workers together;
	// 0: no limit (G-32).
	RateLimit float64
	// Parallelism is the greatest number of Process calls at a time, of all workers
	// together; 0: no limit (G-33).
	Parallelism uint32
	// Fields are top-level fields that interest it; none: all (G-29).
	Fields []string
	// OnSaved has it called after commits.
	OnSaved bool
	// TLS secures the connection to Address; nil: none does.
	TLS *outbound.TLS
}

// Declared is a stage that is ready to be called; see [Declare].
type Declared struct {
	Declaration
	Stage
}

// Absent is why a call of the stage would fail at once, or nil.
func (d *Declared) Absent() error {
	if a, ok := d.Stage.(Absentee); ok {
		return a.Absent()
	}
	return nil
}

// Set are the stages of one file. The zero Set has none.
type Set struct{ all []*Declared }

// NewSet returns a set of stages, ordered by name.
func NewSet(all ...*Declared) *Set {
	ordered := slices.Clone(all)
	slices.SortFunc(ordered, func(a, b *Declared) int { return strings.Compare(a.Name, b.Name) })
	return &Set{all: ordered}
}

// All are the stages by name.
func (s *Set) All() []*Declared { return s.all }

// Of are the stages of a type of entities by name.
func (s *Set) Of(entityType string) []*Declared {
	var of []*Declared
	for _, one := range s.all {
		if one.EntityType == entityType {
			of = append(of, one)
		}
	}
	return of
}

// Named is the stage of this name, or nil.
func (s *Set) Named(name string) *Declared {
	for _, one := range s.all {
		if one.Name == name {
			return one
		}
	}
	return nil
}
