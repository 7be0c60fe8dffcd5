package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// New returns the command `gnomon` with the client verbs, `version` and shell
// completion. version is printed as it is. The command holds its own flag values,
// so every execution needs one of its own. Execute it with Run.
func New(version string) *cobra.Command {
	return newRoot(version, system())
}

func newRoot(version string, env environment) *cobra.Command {
	s := &session{env: env, output: outputTable}
	root := group("gnomon", "Run things at their time, durably")
	root.Long = "gnomon runs things at their time, durably, on Temporal."
	root.Example = `  gnomon action create hello --in 5s --url http://127.0.0.1:7790/hello
  gnomon action watch hello
  gnomon batch create release --file release.yaml --in 1h
  gnomon node run node-1 --wait -- uptime
  gnomon playbook run upgrade.yaml --watch
  gnomon entity put offer o-1 --content '{"model": "a4"}'
  gnomon stage list`
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageErrorf("%w; see '%s --help'", err, cmd.CommandPath())
	})

	flags := root.PersistentFlags()
	flags.StringVar(&s.address, "address", env.addressOrDefault(), "host:port of gnomon's gRPC API (env GNOMON_ADDRESS)")
	flags.BoolVar(&s.tls, "tls", false, "speak TLS, trusting the system's certificate authorities")
	flags.DurationVar(&s.timeout, "timeout", defaultTimeout, "time limit of one call, 0 for none")
	flags.VarP(&s.output, "output", "o", "table, json or yaml")
	flags.BoolVar(&s.noColor, "no-color", false, "no colours (env NO_COLOR)")
	mustComplete(root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputFormats, cobra.ShellCompDirectiveNoFileComp)))

	root.AddCommand(actionCommand(s), batchCommand(s), nodeCommand(s), playbookCommand(s), entityCommand(s), stageCommand(s), healthCommand(s), versionCommand(version))
	return root
}

// defaultTimeout is longer than the 3 s the facade waits for a worker.
const defaultTimeout = 10 * time.Second

func actionCommand(s *session) *cobra.Command {
	cmd := group("action", "Schedule actions and see what became of them")
	cmd.Example = `  gnomon action create hello --in 5s --url http://127.0.0.1:7790/hello
  gnomon action list`
	cmd.AddCommand(
		createCommand(s), getCommand(s), listCommand(s), updateCommand(s),
		deleteCommand(s), pauseCommand(s), resumeCommand(s), triggerCommand(s),
		watchCommand(s), previewCommand(s), applyCommand(s),
	)
	return cmd
}

func versionCommand(version string) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  gnomon version",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version)
			return err
		},
	}
}

// group is a command that only holds others. Cobra answers an unknown verb below
// the root with help and exit code 0, which a script would take for success.
func group(use, short string) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if cmd.SuggestionsMinimumDistance <= 0 {
				cmd.SuggestionsMinimumDistance = 2
			}
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return usageErrorf("unknown command %q for %q, did you mean %q?", args[0], cmd.CommandPath(), near[0])
			}
			return usageErrorf("unknown command %q for %q; see '%s --help'", args[0], cmd.CommandPath(), cmd.CommandPath())
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

// mustComplete holds a programmer to registering completions for flags that exist.
func mustComplete(err error) {
	if err != nil {
		panic(err)
	}
}
