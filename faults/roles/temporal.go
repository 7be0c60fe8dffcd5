package roles

import (
	"fmt"

	"github.com/spf13/cobra"

	"gnomon/devserver"
	"gnomon/starter"
)

// temporal is a Temporal server alone, on a file. It prints its address.
func temporal() *cobra.Command {
	var dir string
	var port int
	cmd := &cobra.Command{
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := devserver.Start(cmd.Context(), devserver.Config{
				DataDir: dir, Port: port, UIPort: devserver.NoUI, SearchAttributes: starter.SearchAttributes(),
			})
			if err != nil {
				return err
			}
			defer s.Stop()
			fmt.Fprintln(cmd.OutOrStdout(), s.Address())
			<-cmd.Context().Done()
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "where the file is")
	cmd.Flags().IntVar(&port, "port", 0, "port, 0 for a free one")
	return cmd
}
