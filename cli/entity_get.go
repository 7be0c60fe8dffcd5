package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func entityGetCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "get TYPE ID",
		Short: "Show an entity: its content, its version, who made that",
		Example: `  gnomon entity get offer o-1
  gnomon entity get offer o-1 -o json`,
		Args:              these(anEntity...),
		ValidArgsFunction: completeEntities(s, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.entities(cmd.Context(), func(ctx context.Context, client gnomonv1.EntityServiceClient) error {
				e, err := client.GetEntity(ctx, &gnomonv1.GetEntityRequest{Type: args[0], Id: args[1]})
				if err != nil {
					return err
				}
				p := s.printer(cmd)
				return p.show(e, func() string { return p.entityCard(e) })
			})
		},
	}
}

// entityCard is an entity for people. It ends without a line feed.
func (p *printer) entityCard(e *gnomonv1.Entity) string {
	var text cardBuilder
	text.line(p.style.heading(entityName(e)))
	text.field("Version", fmt.Sprint(e.GetVersion()))
	text.field("Changed", joinNonEmpty(" ", p.moment.both(e.GetUpdateTime()), by(e)))
	text.field("Created", p.moment.both(e.GetCreateTime()))
	text.line(p.style.heading("Content"))
	for line := range strings.Lines(readableMessage(e.GetContent())) {
		text.line("  " + strings.TrimRight(line, "\n"))
	}
	return fit(text.text.String(), p.width)
}

// by is the stage that made a version of an entity, if one did.
func by(e *gnomonv1.Entity) string {
	if e.GetChangedByStage() == "" {
		return ""
	}
	return "by " + visible(e.GetChangedByStage())
}

// readableMessage is a message as YAML.
func readableMessage(m proto.Message) string {
	tree, err := orderedTree(m)
	if err != nil {
		return visible(err.Error())
	}
	out, err := marshalTree(tree, yaml.UseSingleQuote(true), yaml.UseLiteralStyleIfMultiline(true))
	if err != nil {
		return visible(err.Error())
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		lines = append(lines, visible(strings.TrimRight(line, "\n")))
	}
	return strings.Join(lines, "\n")
}

func entityListCommand(s *session) *cobra.Command {
	var o listing
	cmd := &cobra.Command{
		Use:   "list TYPE",
		Short: "List the entities of a type by their ids",
		Long: `List the entities of a type by their ids.

One page is listed unless --limit asks for more; one of big entities has fewer than it
should.`,
		Example: `  gnomon entity list offer
  gnomon entity list offer --limit 500 -o json`,
		Args:              exactly("type"),
		ValidArgsFunction: completeEntities(s, 1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		all := &gnomonv1.ListEntitiesResponse{}
		var err error
		all.NextPageToken, err = pages(o.size, o.token, o.limit, func(size int32, token string) (got int, next string, err error) {
			err = s.entities(cmd.Context(), func(ctx context.Context, client gnomonv1.EntityServiceClient) error {
				reply, err := client.ListEntities(ctx, &gnomonv1.ListEntitiesRequest{Type: args[0], PageSize: size, PageToken: token})
				all.Entities = append(all.Entities, reply.GetEntities()...)
				got, next = len(reply.GetEntities()), reply.GetNextPageToken()
				return err
			})
			return got, next, err
		})
		if err != nil {
			return err
		}
		p := s.printer(cmd)
		if err := p.show(all, func() string { return p.entityTable(all.GetEntities()) }); err != nil {
			return err
		}
		p.more(all.GetNextPageToken())
		return nil
	}
	o.register(cmd, "entities")
	return cmd
}

func (p *printer) entityTable(all []*gnomonv1.Entity) string {
	if len(all) == 0 {
		return "no entities"
	}
	rows := make([][]string, len(all))
	for i, e := range all {
		rows[i] = []string{
			visible(e.GetId()), fmt.Sprint(e.GetVersion()),
			joinNonEmpty(" ", p.moment.relative(e.GetUpdateTime().AsTime()), by(e)), shortContent(e.GetContent()),
		}
	}
	return renderTable(p.style, p.width, []string{"ID", "VERSION", "CHANGED", "CONTENT"}, rows)
}

// shortContent is the beginning of a content, in one line.
func shortContent(content *structpb.Struct) string {
	line, err := encodeLine(content)
	if err != nil {
		return ""
	}
	return visible(shortened(string(line), 80))
}

// errEntityDeleted ends a watch.
var errEntityDeleted = errors.New("the entity was deleted")

func entityWatchCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "watch TYPE ID",
		Short: "Follow an entity's versions until it is deleted",
		Long: `Follow an entity's versions until it is deleted, or until Ctrl-C. Versions that stood for
less than a quarter of a second may be left out.

A terminal shows the entity as it stands; elsewhere every version is a line, with
'-o json' the entity as one line of JSON.`,
		Example: `  gnomon entity watch offer o-1
  gnomon entity watch offer o-1 -o json`,
		Args:              these(anEntity...),
		ValidArgsFunction: completeEntities(s, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.followEntity(cmd, &gnomonv1.WatchEntityRequest{Type: args[0], Id: args[1]})
		},
	}
}

func (s *session) followEntity(cmd *cobra.Command, request *gnomonv1.WatchEntityRequest) error {
	conn, closeConn, err := s.open()
	if err != nil {
		return err
	}
	defer closeConn()
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	stream, err := gnomonv1.NewEntityServiceClient(conn).WatchEntity(ctx, request)
	if err != nil {
		return err
	}
	f := &follower[*gnomonv1.Entity]{watcher: *s.watcher(cmd), noun: "entity"}
	f.over = func(*gnomonv1.Entity) bool { return false }
	f.draw, f.line = f.p.entityCard, f.p.entityLine
	_, err = f.follow(ctx, func() (*gnomonv1.Entity, error) {
		reply, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil, errEntityDeleted
		}
		return reply.GetEntity(), err
	})
	if !errors.Is(err, errEntityDeleted) {
		return err
	}
	if f.p.format == outputTable {
		_, err = fmt.Fprintln(f.p.out, "deleted "+entityName(request))
		return err
	}
	return nil
}

// entityLine is a version as one line, without relative times: it may be read later.
func (p *printer) entityLine(e *gnomonv1.Entity) string {
	return joinNonEmpty(" ", utc(p.moment.now().Truncate(time.Millisecond)), fmt.Sprintf("version=%d", e.GetVersion()), by(e), shortContent(e.GetContent()))
}
