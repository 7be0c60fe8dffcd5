package stages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Registry has the stages that are part of a program, by the names that files have under
// go.
type Registry map[string]Stage

// Open is Load, or a set without stages if path is empty.
func Open(path string, program Registry, log *slog.Logger) (*Set, error) {
	if path == "" {
		return NewSet(), nil
	}
	return Load(path, program, log)
}

// Load reads a file of stages; see docs/stages.md for its fields. The error has a line
// for each thing that is wrong, all at once, with its line, field and rule. No stage is
// called: see [Set.Check]. The set is to be closed.
func Load(path string, program Registry, log *slog.Logger) (*Set, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("stages: %w", err)
	}
	entries, problems := parse(text)
	s := NewSet()
	for _, one := range entries {
		made, wrongs := one.make(program)
		for _, w := range wrongs {
			problems = problems.with(one.problem(w))
		}
		if made != nil {
			s.all = append(s.all, Declare(one.declaration, made, log))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(fmt.Errorf("stages: %s: %w", path, problems.err()), s.Close())
	}
	return NewSet(s.all...), nil
}

// Declarations reads a file for those who call no stage: names under go are not looked up,
// and no file of TLS is read. No path is no stages. The error is that of [Load].
func Declarations(path string) (*Set, error) {
	if path == "" {
		return NewSet(), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("stages: %w", err)
	}
	entries, problems := parse(text)
	var all []*Declared
	for _, one := range entries {
		d := one.declaration.WithDefaults()
		for _, w := range d.wrongs() {
			problems = problems.with(one.problem(w))
		}
		all = append(all, &Declared{Declaration: d})
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("stages: %s: %w", path, problems.err())
	}
	return NewSet(all...), nil
}

// make judges a declaration and makes what is to be called, or says what is wrong.
func (e entry) make(program Registry) (Stage, []wrong) {
	d := e.declaration.WithDefaults()
	if all := d.wrongs(); len(all) > 0 {
		return nil, all
	}
	if d.Go == "" {
		made, err := newRemote(d)
		if err != nil {
			field := "address"
			if d.TLS != nil && strings.HasPrefix(err.Error(), "tls: ") {
				field, err = "tls", errors.Unwrap(err)
			}
			return nil, []wrong{{field, err.Error()}}
		}
		return made, nil
	}
	made, ok := program[d.Go]
	if !ok {
		return nil, []wrong{{"go", fmt.Sprintf("is %q and must be one of the stages in this program: %s", d.Go, known(program))}}
	}
	if _, saves := made.(Saver); d.OnSaved && !saves {
		return nil, []wrong{{"onSaved", fmt.Sprintf("must not be true, as %s has no OnSaved", d.Go)}}
	}
	return made, nil
}

func known(program Registry) string {
	if len(program) == 0 {
		return "there are none"
	}
	return strings.Join(slices.Sorted(maps.Keys(program)), ", ")
}

// Check connects to all stages that servers implement, and logs which of them do not
// answer within the limit. That is no error: stages come and go, and the entities that
// need one wait for it.
func (s *Set) Check(ctx context.Context, limit time.Duration, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var asked sync.WaitGroup
	for _, one := range s.all {
		guarded, ok := one.Stage.(*guarded)
		if !ok {
			continue
		}
		server, ok := guarded.stage.(*remote)
		if !ok {
			continue
		}
		asked.Go(func() {
			if server.answers(ctx) {
				log.DebugContext(ctx, "A stage answers.", "stage", one.Name, "address", one.Address)
				return
			}
			log.WarnContext(ctx, "A stage does not answer; entities wait for it.", "stage", one.Name, "address", one.Address, "waited", limit)
		})
	}
	asked.Wait()
}

// Close gives up what the stages keep, such as connections. Stages of the program may be
// in other sets, and are left alone.
func (s *Set) Close() error {
	var errs []error
	for _, one := range s.all {
		if c, ok := one.Stage.(io.Closer); ok && one.Go == "" {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
