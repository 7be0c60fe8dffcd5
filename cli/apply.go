package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// applyOptions are the flags of apply.
type applyOptions struct {
	files    []string
	dryRun   bool
	fresh    bool
	parallel int
}

func applyCommand(s *session) *cobra.Command {
	var o applyOptions
	cmd := &cobra.Command{
		Use:   "apply --file FILE",
		Short: "Make actions be as files say",
		Long: `Make actions be as files say: those that are missing are created, those that
differ are changed, and those that do not differ are left alone, so that their
counters and pauses stay.

A file is YAML of one or more documents, or JSON, each document a ScheduledAction
in proto3 JSON names; a directory stands for its *.yaml, *.yml, *.json and *.jsonl
files. A document without startPolicy starts now when it is created, and keeps its
start (a periodic action its phase) when it is changed. Guid, times and status in a
file are ignored, so the output of 'gnomon action get -o yaml' can be applied.

A document that fails does not hold up the others; the exit code is then 1.`,
		Example: `  gnomon action apply --file actions.yaml
  gnomon action apply --file actions/ --dry-run
  gnomon action list --limit 1000 -o yaml | gnomon action apply --file -`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd, s) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.files, "file", "f", nil, "file, directory, or '-' for stdin (repeatable)")
	flags.BoolVar(&o.dryRun, "dry-run", false, "let the server check everything, and change nothing")
	flags.BoolVar(&o.fresh, "fresh", false, "compare with the actions themselves instead of the store, which may lag")
	flags.IntVar(&o.parallel, "parallel", 8, "actions at the same time, 1 to 64")
	return cmd
}

func (o *applyOptions) run(cmd *cobra.Command, s *session) error {
	switch {
	case len(o.files) == 0:
		return usageErrorf("%s needs --file", cmd.CommandPath())
	case o.parallel < 1 || o.parallel > 64:
		return usageErrorf("--parallel must be 1 to 64, got %d", o.parallel)
	}
	documents := refuseTwice(o.documents(cmd))
	client, closeClient, err := s.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	a := applier{session: s, client: client, dryRun: o.dryRun, fresh: o.fresh}
	return s.applyOutput(cmd, len(documents), o.dryRun).show(cmd.Context(), o.each(cmd.Context(), a, documents))
}

// documents is what all files hold. A file that cannot be read counts as one that
// failed.
func (o *applyOptions) documents(cmd *cobra.Command) []document {
	var all []document
	for _, name := range o.files {
		files, err := filesOf(name)
		if err != nil {
			all = append(all, document{source: name, err: err})
			continue
		}
		for _, file := range files {
			documents, err := readDocuments(cmd, file)
			if err == nil && len(documents) == 0 {
				err = errors.New("holds no action")
			}
			if err != nil {
				documents = []document{{source: file, err: err}}
			}
			all = append(all, documents...)
		}
	}
	return all
}

func filesOf(name string) ([]string, error) {
	info, err := os.Stat(name)
	if name == "-" || (err == nil && !info.IsDir()) {
		return []string{name}, nil
	}
	if err != nil {
		return nil, withoutPath(err)
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	var files []string
	for _, entry := range entries {
		if isActionFile(entry) {
			files = append(files, filepath.Join(name, entry.Name()))
		}
	}
	if len(files) == 0 {
		return nil, errors.New("the directory holds no *.yaml, *.yml, *.json or *.jsonl file")
	}
	return files, nil
}

func isActionFile(entry fs.DirEntry) bool {
	endings := []string{".yaml", ".yml", ".json", ".jsonl"}
	return !entry.IsDir() && slices.Contains(endings, strings.ToLower(filepath.Ext(entry.Name())))
}

// refuseTwice lets only the first document of an id stand: which of two would win
// were a matter of chance.
func refuseTwice(documents []document) []document {
	seen := map[string]string{}
	for i, d := range documents {
		id := d.action.GetMeta().GetId()
		if d.err != nil || id == "" {
			continue
		}
		if before, twice := seen[id]; twice {
			documents[i].err = fmt.Errorf("meta.id %q stands in %s already", id, before)
			continue
		}
		seen[id] = d.source
	}
	return documents
}

// each applies documents some at a time and returns a channel for each outcome, in
// the order of the documents.
func (o *applyOptions) each(ctx context.Context, a applier, documents []document) []chan outcome {
	outcomes := make([]chan outcome, len(documents))
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1)
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(o.parallel, len(documents)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(documents)); i = next.Add(1) - 1 {
				outcomes[i] <- a.apply(ctx, documents[i])
			}
		})
	}
	return outcomes
}

// outcome is what became of one document.
type outcome struct {
	document document
	result   applyResult
	action   *gnomonv1.ScheduledAction
	err      error
}

// applyResult is what became of one document, in a word.
type applyResult string

const (
	resultCreated   applyResult = "created"
	resultChanged   applyResult = "changed"
	resultUnchanged applyResult = "unchanged"
	resultFailed    applyResult = "failed"
)
