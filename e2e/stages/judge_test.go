package stages

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// verdict is what a judge found.
type verdict struct {
	// broken are the promises that were, each with what it was.
	broken []string

	calls, stale, failed, lost, askedOf, published, twice, versions int
}

func (v *verdict) fails(promise, about string, args ...any) {
	v.broken = append(v.broken, promise+": "+fmt.Sprintf(about, args...))
}

func (v *verdict) String() string {
	return fmt.Sprintf("%d questions; %d calls of Process, %d of them failed, %d never ended, %d were made again in one visit on a newer version or after a loss; %d versions; %d records published, %d of them again",
		v.askedOf, v.calls, v.failed, v.lost, v.stale, v.versions, v.published, v.twice)
}

// final is what the store has of an entity when all is quiet.
type final struct {
	entity *gnomonv1.Entity
	states map[string]*gnomonv1.StageState
}

// story is what is known of one entity.
type story struct {
	id    string
	lines []line
	puts  []put
	final final
}

// judge judges the stages' records, the clients' record and the store. teller is the
// stage whose OnSaved tells of the versions; stages are all of them.
func judge(lines []line, puts []put, finals map[string]final, stages []string, teller string) *verdict {
	v := &verdict{}
	stories := map[string]*story{}
	for id, f := range finals {
		stories[id] = &story{id: id, final: f}
	}
	for _, l := range lines {
		if s := stories[l.ID]; s != nil {
			s.lines = append(s.lines, l)
		} else {
			v.fails("no change unseen", "%s was told of and is not in the store", l.ID)
		}
	}
	for _, p := range puts {
		if s := stories[p.id]; s != nil {
			s.puts = append(s.puts, p)
		} else {
			v.fails("no change unseen", "%s was acknowledged and is not in the store", p.id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(stories)) {
		s := stories[id]
		v.private(s)
		v.sideBySide(s)
		v.order(s)
		v.seen(s, stages, v.contents(s, teller))
		v.settled(s, stages)
	}
	return v
}

// private holds that a stage was given no state but its own of that very entity, and that
// what it made was committed as a whole: the word in the content is that in the state.
func (v *verdict) private(s *story) {
	for _, l := range s.lines {
		own := l.State == nil || l.State["stage"] == l.Stage && l.State["id"] == l.ID
		if l.What == saved && l.By != l.Stage {
			own = l.State == nil && l.StateVersion == 0
		}
		if !own {
			v.fails("no private state crossed", "%s %s was given %v of %s", l.Stage, l.What, l.State, s.id)
		}
		// A put removes the word from the content; a question reads the two one after the other.
		word, ok := l.Content[wordOf(l.Stage)]
		if ok && (l.What == began || l.What == saved && l.By == l.Stage) && word != l.State["word"] {
			v.fails("no commit half done", "%s of %s, version %d: %v in the content, %v in the state", l.Stage, s.id, l.Version, word, l.State["word"])
		}
		if l.What == saved && l.By == l.Stage && !ok && l.Changed {
			v.fails("no commit half done", "%s of %s, version %d: committed without its content", l.Stage, s.id, l.Version)
		}
	}
}

// sideBySide holds that no two stages worked on an entity at a time.
func (v *verdict) sideBySide(s *story) {
	under, visits := map[string]line{}, map[string]bool{}
	for _, l := range s.lines {
		switch l.What {
		case asked:
			v.askedOf++
		case began:
			v.calls++
			if visits[l.Visit] {
				v.stale++
			}
			visits[l.Visit] = true
			for _, other := range under {
				v.fails("one at a time", "%s began on %s, version %d, %s after %s of version %d, which had not ended", l.Stage, s.id, l.Version,
					time.Duration(l.At-other.At), other.Stage, other.Version)
			}
			under[l.Call] = l
		case ended:
			delete(under, l.Call)
			if l.Answer == "failed" {
				v.failed++
			}
		}
	}
}

// order holds that every stage that is told was told of each record, the first times in
// the order of the sequence.
func (v *verdict) order(s *story) {
	last := map[string]int64{}
	for _, l := range s.lines {
		if l.What != saved {
			continue
		}
		switch {
		case l.Sequence == last[l.Stage]+1:
			last[l.Stage] = l.Sequence
			v.published++
		case l.Sequence <= last[l.Stage]:
			v.twice++
		default:
			v.fails("published in order", "%s was told of record %d of %s after %d", l.Stage, l.Sequence, s.id, last[l.Stage])
			last[l.Stage] = l.Sequence
		}
	}
	if all := slices.Compact(slices.Sorted(maps.Values(last))); len(all) != 1 {
		v.fails("published at least once", "of %s the stages were told up to different records: %v", s.id, last)
	}
}

// contents are the lines that tell of the entity's versions, by version; each version is
// told of, and what the clients were answered and what the store has are among them.
func (v *verdict) contents(s *story, teller string) map[int64]line {
	all := map[int64]line{}
	for _, l := range s.lines {
		if l.What == saved && l.Stage == teller && (l.Changed || l.By == "") && all[l.Version].What == "" {
			all[l.Version] = l
		}
	}
	v.versions += len(all)
	for version := int64(1); version <= s.final.entity.GetVersion(); version++ {
		if all[version].What == "" {
			v.fails("published at least once", "version %d of %s was not", version, s.id)
		}
	}
	if last := all[s.final.entity.GetVersion()]; !reflect.DeepEqual(last.Content, s.final.entity.GetContent().AsMap()) {
		v.fails("no commit half done", "%s is %v and was published as %v", s.id, s.final.entity.GetContent(), last.Content)
	}
	for _, p := range s.puts {
		if l := all[p.version]; l.By != "" || number(l.Content, "n") != p.n {
			v.fails("no change unseen", "put %v of %s was acknowledged as version %d, which is %v by %q", p.n, s.id, p.version, l.Content, l.By)
		}
	}
	return all
}

// seen holds that each version that changed a field of a stage's interest was seen by
// that stage, be it as a later version.
func (v *verdict) seen(s *story, stages []string, contents map[int64]line) {
	saw := map[string]int64{}
	for _, l := range s.lines {
		if l.What == asked || l.What == began {
			saw[l.Stage] = max(saw[l.Stage], l.Version)
		}
	}
	for version, l := range contents {
		before := contents[version-1].Content
		for _, stage := range stages {
			concerned := slices.ContainsFunc(interests[stage], func(field string) bool { return !reflect.DeepEqual(l.Content[field], before[field]) })
			if concerned && l.By != stage && saw[stage] < version {
				v.fails("no change unseen", "%s has seen %s up to version %d, and %d concerned it", stage, s.id, saw[stage], version)
			}
		}
	}
}

// settled holds that every stage has done on what stands what it has to.
func (v *verdict) settled(s *story, stages []string) {
	content := s.final.entity.GetContent().AsMap()
	for _, stage := range stages {
		state := stateOf(s.final.states[stage])
		if lacks := settled(stage, content, state); lacks != "" {
			v.fails("no change unseen", "%s, version %d: %s", s.id, s.final.entity.GetVersion(), lacks)
		}
		if word, ok := content[wordOf(stage)]; ok && word != state["word"] || state != nil && state["stage"] != stage {
			v.fails("no commit half done", "%s stands with %v and the state %v of %s", s.id, content, state, stage)
		}
	}
}

// withLost adds ends to the calls that never ended, at the time when their process was
// killed, and says how many those are.
func withLost(all []line) ([]line, int) {
	open, ends := map[string]line{}, map[string]int64{}
	for _, l := range all {
		switch l.What {
		case began:
			open[l.Call] = l
		case ended:
			delete(open, l.Call)
		case killed:
			ends[l.Call] = l.At
		}
	}
	all = slices.DeleteFunc(all, func(l line) bool { return l.What == killed })
	for call, l := range open {
		pid, _, _ := strings.Cut(call, "-")
		if at, ok := ends[pid]; ok {
			l.What, l.At, l.Answer = ended, at, "lost"
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Compare(a.At, b.At) })
	return all, len(open)
}
