package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func entityCommand(s *session) *cobra.Command {
	cmd := group("entity", "Put entities and see what stages make of them")
	cmd.Example = `  gnomon entity put offer o-1 --content '{"model": "a4", "year": 2019}'
  gnomon entity check offer o-1`
	cmd.AddCommand(
		entityPutCommand(s), entityGetCommand(s), entityListCommand(s), entityDeleteCommand(s),
		entityWatchCommand(s), entityCheckCommand(s), entityStateCommand(s),
	)
	return cmd
}

// entities makes one call with a client of its own.
func (s *session) entities(ctx context.Context, call func(context.Context, gnomonv1.EntityServiceClient) error) error {
	conn, closeConn, err := s.open()
	if err != nil {
		return err
	}
	defer closeConn()
	ctx, cancel := s.call(ctx)
	defer cancel()
	return call(ctx, gnomonv1.NewEntityServiceClient(conn))
}

// these takes one argument for each of these words.
func these(what ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != len(what) {
			return usageErrorf("%s takes %s, got %d arguments", cmd.CommandPath(), strings.Join(what, " and "), len(args))
		}
		return nil
	}
}

// anEntity are the arguments of commands about one entity.
var anEntity = []string{"a type", "an id"}

// completeEntities offers types of entities, their ids, and the stages of their type, for
// the first, second and third argument.
func completeEntities(s *session, arguments int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		if len(args) >= arguments {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		// A server that does not answer means no offers.
		_ = s.entities(ctx, func(ctx context.Context, client gnomonv1.EntityServiceClient) error {
			var err error
			if found, err = offers(ctx, client, args); err != nil {
				found = nil
			}
			return err
		})
		var fit []cobra.Completion
		for _, one := range found {
			if strings.HasPrefix(one, typed) {
				fit = append(fit, one)
			}
		}
		return fit, cobra.ShellCompDirectiveNoFileComp
	}
}

func offers(ctx context.Context, client gnomonv1.EntityServiceClient, args []string) (found []cobra.Completion, err error) {
	if len(args) == 1 {
		reply, err := client.ListEntities(ctx, &gnomonv1.ListEntitiesRequest{Type: args[0], PageSize: 100})
		for _, e := range reply.GetEntities() {
			found = append(found, cobra.CompletionWithDesc(e.GetId(), fmt.Sprint("version ", e.GetVersion())))
		}
		return found, err
	}
	reply, err := client.ListStages(ctx, &gnomonv1.ListStagesRequest{})
	seen := map[string]bool{}
	for _, stage := range reply.GetStages() {
		switch {
		case len(args) == 2 && stage.GetEntityType() == args[0]:
			found = append(found, stage.GetName())
		case len(args) == 0 && !seen[stage.GetEntityType()]:
			seen[stage.GetEntityType()] = true
			found = append(found, stage.GetEntityType())
		}
	}
	return found, err
}

// readObject reads a JSON object that is given as text, or in a YAML or JSON file ('-' for
// stdin), into a message. Flag names where the text came from.
func readObject(cmd *cobra.Command, flag, text, file string, into proto.Message) error {
	raw, name := []byte(text), "--"+flag
	if file != "" {
		content, err := readFileOrStdin(cmd, file)
		if err != nil {
			return subjectError{file, withoutPath(err)}
		}
		trees, err := decodeTrees(file, content)
		if err != nil {
			return subjectError{file, err}
		}
		if len(trees) != 1 {
			return subjectError{file, fmt.Errorf("must hold exactly one object, it holds %d", len(trees))}
		}
		name = file
		if raw, err = json.Marshal(trees[0]); err != nil {
			return subjectError{file, err}
		}
	}
	err := protojson.Unmarshal(raw, into)
	if err == nil {
		return nil
	}
	err = errors.New(protoPosition.ReplaceAllString(err.Error(), ""))
	if file == "" {
		return usageErrorf("%s: %w", name, err)
	}
	return subjectError{name, err}
}
