package serve

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"gnomon/reconcile"
)

// formatOf is the format that the global flag --output asks for.
func formatOf(cmd *cobra.Command) (string, error) {
	output := cmd.Flag("output")
	if output == nil {
		return "table", nil
	}
	switch format := output.Value.String(); format {
	case "table", "json", "yaml":
		return format, nil
	default:
		return "", fmt.Errorf("--output is %q and must be table, json or yaml", format)
	}
}

// writeReport shows a report: a line for each action and a sentence, or all of it for
// programs.
func writeReport(out io.Writer, format string, r reconcile.Report) error {
	if format == "table" {
		return writeLines(out, r)
	}
	body, err := json.MarshalIndent(r, "", "  ")
	if err == nil && format == "yaml" {
		body, err = yaml.JSONToYAML(body)
	}
	if err != nil {
		return fmt.Errorf("the report cannot be encoded: %w", err)
	}
	if format == "json" {
		body = append(body, '\n')
	}
	_, err = out.Write(body)
	return err
}

func writeLines(out io.Writer, r reconcile.Report) error {
	for _, item := range r.Items {
		done := "left alone"
		switch {
		case item.Repaired:
			done = "repaired"
		case r.DryRun && (reconcile.Finding{Kind: item.Kind}).Wrong():
			done = "would be repaired"
		}
		if _, err := fmt.Fprintf(out, "%-11s  %s  %s: %s\n", item.Kind, item.ID, done, item.Why); err != nil {
			return err
		}
	}
	if more := r.Wrong() + r.Unjudged() - int64(len(r.Items)); more > 0 {
		if _, err := fmt.Fprintf(out, "and %d more\n", more); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out, r.Sentence()+".")
	return err
}
