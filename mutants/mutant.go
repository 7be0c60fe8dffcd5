package main

import (
	"strconv"
	"strings"
)

// mutant is one planted bug.
type mutant struct {
	// name is short and hyphenated, for the command line.
	name string
	// requirement is what the bug breaks, by the numbers of requirements.md and
	// faults.md, or a section of design.md.
	requirement string
	// why says in one line what would go wrong in the field.
	why string
	// edits make the bug. More than one where a second line hides the first.
	edits []edit
	// tests are the packages that are to notice, in the order they are run in.
	tests []target
}

// edit replaces a text of a file, which must occur exactly once.
type edit struct {
	// file is relative to the module's directory.
	file     string
	old, new string
}

// target is a package of tests, or those of its tests that a pattern names.
type target struct {
	pkg string
	run string // for go test -run; empty: all
	// lives, if not 0, is how many random lives the model's soak is to compare.
	lives int
	// whole: the tests are not broken off at the first failure, as they start
	// processes that they have to stop.
	whole bool
}

func (t target) String() string { return strings.Join(append([]string{t.pkg}, t.args("")...), " ") }

// args choose the tests; prefix is that of the flags of package testing.
func (t target) args(prefix string) []string {
	var args []string
	if t.run != "" {
		args = append(args, "-"+prefix+"run="+t.run)
	}
	if t.lives > 0 {
		args = append(args, "-lives="+strconv.Itoa(t.lives), "-seed=1")
	}
	return args
}

// in is the whole of these packages.
func in(pkgs ...string) []target {
	var all []target
	for _, pkg := range pkgs {
		all = append(all, target{pkg: "./" + pkg})
	}
	return all
}

// compared is random lives of actions, lived by the product and by the model: what the
// tests before them let pass.
func compared(lives int) target { return target{pkg: "./model", run: "^TestSoak$", lives: lives} }

// alone is one edit.
func alone(file, old, replacement string) []edit {
	return []edit{{file, old, replacement}}
}

// planted are all mutants, in the order they are run in.
func planted() []mutant {
	var all []mutant
	for _, list := range [][]mutant{
		ofDelay, ofSchedule, ofSpecs,
		ofCounters, ofOccurrences, ofDecisions, ofCommands,
		ofWorkflow, ofArrivals, ofAttempts, ofPerformers, ofAgent, ofNews, ofConnection, ofTimers, ofMirror, ofStore, ofFacade,
		ofRecords, ofChanges, ofBatch, ofSubmission,
		ofEntities,
		ofPublishing,
		ofVisits, ofWalks,
		ofNodeActions, ofClusters, ofPlaybooks,
		ofYDB,
	} {
		all = append(all, list...)
	}
	return all
}
