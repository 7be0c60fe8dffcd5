package cli

import (
	"github.com/spf13/cobra"
)

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageErrorf("%s takes no arguments, got %q", cmd.CommandPath(), args)
	}
	return nil
}

func oneID(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageErrorf("%s takes exactly one action id, got %d", cmd.CommandPath(), len(args))
	}
	return nil
}

func atMostOneID(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageErrorf("%s takes at most one action id, got %d", cmd.CommandPath(), len(args))
	}
	return nil
}

func someIDs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageErrorf("%s takes at least one action id", cmd.CommandPath())
	}
	return nil
}

// exclusive refuses more than one of the named flags. Cobra's own check would not
// be told apart from a failed call, which has another exit code.
func exclusive(cmd *cobra.Command, names ...string) error {
	first := ""
	for _, name := range names {
		if !cmd.Flags().Changed(name) {
			continue
		}
		if first != "" {
			return usageErrorf("--%s and --%s exclude each other", first, name)
		}
		first = name
	}
	return nil
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
