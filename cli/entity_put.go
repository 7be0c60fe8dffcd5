package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// entityPutOptions are the flags of entity put.
type entityPutOptions struct {
	request       gnomonv1.PutEntityRequest
	content, file string
	version       int64
}

func entityPutCommand(s *session) *cobra.Command {
	var o entityPutOptions
	cmd := &cobra.Command{
		Use:   "put TYPE ID",
		Short: "Make an entity or replace its content",
		Long: `Make an entity or replace its content, and have the stages of its type asked whether that
concerns them. Content that is the same changes nothing and asks nobody.

The content is a JSON object: of --content, or of a YAML or JSON file, '-' for stdin.
With --version it is refused if somebody else has changed the entity meanwhile.`,
		Example: `  gnomon entity put offer o-1 --content '{"model": "a4", "year": 2019}'
  gnomon entity put offer o-1 -f offer.yaml --version 3
  gnomon entity put offer o-2 -f - --create-only`,
		Args:              these(anEntity...),
		ValidArgsFunction: completeEntities(s, 2),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, s, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.content, "content", "", "the content, as JSON")
	flags.StringVarP(&o.file, "file", "f", "", "file with the content, '-' for stdin")
	flags.Int64Var(&o.version, "version", 0, "only if this is still the version")
	flags.BoolVar(&o.request.CreateOnly, "create-only", false, "only if there is none yet")
	flags.StringVar(&o.request.RequestId, "request-id", "", "makes the call idempotent")
	flags.BoolVar(&o.request.ValidateOnly, "validate-only", false, "only say whether it would be accepted")
	return cmd
}

func (o *entityPutOptions) run(cmd *cobra.Command, s *session, args []string) error {
	if err := exclusive(cmd, "content", "file"); err != nil {
		return err
	}
	if o.file == "" && !cmd.Flags().Changed("content") {
		return usageErrorf("%s needs --content or --file", cmd.CommandPath())
	}
	e := &gnomonv1.Entity{Type: args[0], Id: args[1], Version: o.version, Content: &structpb.Struct{}}
	if err := readObject(cmd, "content", o.content, o.file, e.GetContent()); err != nil {
		return err
	}
	o.request.Entity = e
	return s.entities(cmd.Context(), func(ctx context.Context, client gnomonv1.EntityServiceClient) error {
		put, err := client.PutEntity(ctx, &o.request)
		if err != nil {
			return err
		}
		return s.printer(cmd).show(put, func() string {
			if o.request.GetValidateOnly() {
				return "valid " + entityName(put)
			}
			return fmt.Sprintf("put %s: version %d", entityName(put), put.GetVersion())
		})
	})
}

// entityName is the type and the id of an entity.
func entityName(e interface {
	GetType() string
	GetId() string
},
) string {
	return visible(e.GetType() + " " + e.GetId())
}

func entityDeleteCommand(s *session) *cobra.Command {
	var version int64
	cmd := &cobra.Command{
		Use:   "delete TYPE ID",
		Short: "Delete an entity with the states of all stages",
		Long: `Delete an entity with the states, pending visits and timers of all stages.

Nothing is asked before.`,
		Example: `  gnomon entity delete offer o-1
  gnomon entity delete offer o-1 --version 3`,
		Args:              these(anEntity...),
		ValidArgsFunction: completeEntities(s, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.entities(cmd.Context(), func(ctx context.Context, client gnomonv1.EntityServiceClient) error {
				request := &gnomonv1.DeleteEntityRequest{Type: args[0], Id: args[1], Version: version}
				reply, err := client.DeleteEntity(ctx, request)
				if err != nil {
					return err
				}
				return s.printer(cmd).show(reply, func() string { return "deleted " + entityName(request) })
			})
		},
	}
	cmd.Flags().Int64Var(&version, "version", 0, "only if this is still the version")
	return cmd
}
