package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

// manyDocuments is from how many on a terminal shows progress.
const manyDocuments = 20

// applyOutput shows outcomes, errors and progress of apply.
type applyOutput struct {
	p      *printer
	report errorReport
	// mark is put behind every line for people.
	mark string
	// bar is nil where there is no progress to show.
	bar *progressbar.ProgressBar
}

func (s *session) applyOutput(cmd *cobra.Command, documents int, dryRun bool) applyOutput {
	o := applyOutput{p: s.printer(cmd), report: reportFor(cmd.Root())}
	if dryRun {
		o.mark = " (dry run)"
	}
	if width, _, ok := s.env.terminal(cmd.ErrOrStderr()); ok && documents > manyDocuments {
		o.bar = progressbar.NewOptions(documents,
			progressbar.OptionSetWriter(cmd.ErrOrStderr()),
			progressbar.OptionSetDescription("applying"),
			progressbar.OptionShowCount(),
			progressbar.OptionSetWidth(max(10, width/3)),
			progressbar.OptionClearOnFinish(),
		)
	}
	return o
}

// show writes outcomes as they come, or after the progress bar has gone, and
// returns an error that sums up if there were any.
func (o applyOutput) show(ctx context.Context, outcomes []chan outcome) error {
	counts := map[applyResult]int{}
	var held []outcome
	for _, channel := range outcomes {
		out := <-channel
		if ctx.Err() != nil {
			return ctx.Err()
		}
		counts[out.result]++
		if o.bar != nil {
			_ = o.bar.Add(1) // a terminal that is gone does not stop the work
			held = append(held, out)
			continue
		}
		if err := o.one(out); err != nil {
			return err
		}
	}
	for _, out := range held {
		if err := o.one(out); err != nil {
			return err
		}
	}
	if len(outcomes) > 1 && o.p.format == outputTable {
		fmt.Fprintln(o.p.out, sumUp(counts)+o.mark)
	}
	if failed := counts[resultFailed]; failed > 0 {
		return shownError{fmt.Sprintf("%d of %d documents failed", failed, len(outcomes))}
	}
	return nil
}

func (o applyOutput) one(out outcome) error {
	id := out.document.action.GetMeta().GetId()
	if out.err != nil {
		subject := out.document.source
		if id != "" {
			subject += " (" + id + ")"
		}
		o.report.write(subjectError{subject, out.err})
	}
	if out.result != resultUnchanged {
		o.p.warn(out.action)
	}
	switch o.p.format {
	case outputJSON:
		return o.line(id, out)
	case outputYAML:
		return o.yamlDocument(id, out)
	default:
		if out.err != nil && id == "" {
			return nil
		}
		_, err := fmt.Fprintf(o.p.out, "%-9s %s%s\n", out.result, visible(id), o.mark)
		return err
	}
}

// line is {"source":...,"id":...,"result":...,"action":...}, for programs.
func (o applyOutput) line(id string, out outcome) error {
	line := struct {
		Source string          `json:"source"`
		ID     string          `json:"id,omitempty"`
		Result applyResult     `json:"result"`
		Action json.RawMessage `json:"action,omitempty"`
	}{Source: out.document.source, ID: id, Result: out.result}
	if out.err == nil {
		action, err := encodeLine(out.action)
		if err != nil {
			return err
		}
		line.Action = action
	}
	return json.NewEncoder(o.p.out).Encode(line)
}

func (o applyOutput) yamlDocument(id string, out outcome) error {
	tree := yaml.MapSlice{
		{Key: "source", Value: out.document.source}, {Key: "id", Value: id}, {Key: "result", Value: string(out.result)},
	}
	if out.err == nil {
		action, err := orderedTree(out.action)
		if err != nil {
			return err
		}
		tree = append(tree, yaml.MapItem{Key: "action", Value: action})
	}
	body, err := marshalTree(tree)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.p.out, "---\n%s\n", body)
	return err
}

func sumUp(counts map[applyResult]int) string {
	var parts []string
	for _, result := range []applyResult{resultCreated, resultChanged, resultUnchanged, resultFailed} {
		if n := counts[result]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, result))
		}
	}
	return strings.Join(parts, ", ")
}
