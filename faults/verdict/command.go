package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// ErrBroken says that a promise was broken.
var ErrBroken = errors.New("a promise was broken")

// Command is the judge: it reads a directory of records and prints its verdict.
func Command() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:           "judge DIR",
		Short:         "Say which promises a run of the fault tests broke",
		Args:          cobra.ExactArgs(1),
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := Load(cmd.Context(), args[0])
			if err != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), err)
				return err
			}
			v := Judge(e)
			if output == "json" {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			} else {
				v.Print(cmd.OutOrStdout())
			}
			if err == nil && v.BrokenCount > 0 {
				err = ErrBroken
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

// Print tells people.
func (v *Verdict) Print(w io.Writer) {
	fmt.Fprintf(w, "%s: %d promises broken; injections %v\n", v.Scenario, v.BrokenCount, v.Injections)
	for _, f := range v.Figures {
		fmt.Fprintf(w, "  %-4s %s: %s\n", f.Fault, f.Name, f.Value)
	}
	for _, b := range v.Broken {
		fmt.Fprintf(w, "  BROKEN promise %d: %s: %s\n", b.Promise, b.ID, b.What)
	}
}
