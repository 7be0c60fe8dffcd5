package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// aState are the arguments of commands about the state of a stage.
var aState = []string{"a type", "an id", "a stage"}

func entityStateCommand(s *session) *cobra.Command {
	cmd := group("state", "Read what a stage keeps beside an entity, and change it by compare-and-set")
	cmd.Example = `  gnomon entity state get offer o-1 price
  gnomon entity state set offer o-1 price --version 2 --state '{"asked": 3}'`
	cmd.AddCommand(stateGetCommand(s), stateSetCommand(s))
	return cmd
}

func stateGetCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "get TYPE ID STAGE",
		Short: "Show a stage's state",
		Example: `  gnomon entity state get offer o-1 price
  gnomon entity state get offer o-1 price -o json`,
		Args:              these(aState...),
		ValidArgsFunction: completeEntities(s, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.entities(cmd.Context(), func(ctx context.Context, client gnomonv1.EntityServiceClient) error {
				state, err := client.GetStageState(ctx, &gnomonv1.GetStageStateRequest{Type: args[0], Id: args[1], Stage: args[2]})
				if err != nil {
					return err
				}
				p := s.printer(cmd)
				return p.show(state, func() string { return p.stateCard(strings.Join(args, " "), state) })
			})
		},
	}
}

// stateCard is a state for people: as YAML if it is of a type that is known here.
func (p *printer) stateCard(name string, st *gnomonv1.StageState) string {
	var text cardBuilder
	text.line(p.style.heading(visible(name)))
	text.field("Version", fmt.Sprint(st.GetVersion()))
	text.field("Changed", p.moment.both(st.GetUpdateTime()))
	if st.GetState() == nil {
		text.field("State", "none")
		return fit(text.text.String(), p.width)
	}
	text.field("Type", visible(st.GetState().GetTypeUrl()))
	if _, err := st.GetState().UnmarshalNew(); err != nil {
		text.field("State", counted(len(st.GetState().GetValue()), "byte")+" that only the stage can read")
		return fit(text.text.String(), p.width)
	}
	text.line(p.style.heading("State"))
	for line := range strings.Lines(readableMessage(st.GetState())) {
		text.line("  " + strings.TrimRight(line, "\n"))
	}
	return fit(text.text.String(), p.width)
}

// stateSetOptions are the flags of entity state set.
type stateSetOptions struct {
	request     gnomonv1.UpdateStageStateRequest
	state, file string
	none        bool
}

func stateSetCommand(s *session) *cobra.Command {
	var o stateSetOptions
	cmd := &cobra.Command{
		Use:   "set TYPE ID STAGE",
		Short: "Replace a stage's state if its version is still the one given",
		Long: `Replace a stage's state if its version is still the one given, 0 for none. If it is not,
nothing is changed, the state that stands is shown, and the exit code is 3.

The state is JSON: of --state, or of a YAML or JSON file, '-' for stdin. With a member
"@type" it is that message of google.protobuf, without one a google.protobuf.Struct.`,
		Example: `  gnomon entity state set offer o-1 price --version 2 --state '{"asked": 3}'
  gnomon entity state set offer o-1 price --version 0 --state '{"@type": "type.googleapis.com/google.protobuf.StringValue", "value": "x"}'
  gnomon entity state set offer o-1 price --version 3 --none --visit`,
		Args:              these(aState...),
		ValidArgsFunction: completeEntities(s, 3),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, s, args) },
	}
	flags := cmd.Flags()
	flags.Int64Var(&o.request.Version, "version", 0, "the version that is to be replaced")
	flags.StringVar(&o.state, "state", "", "the new state, as JSON")
	flags.StringVarP(&o.file, "file", "f", "", "file with the new state, '-' for stdin")
	flags.BoolVar(&o.none, "none", false, "no state any more")
	flags.BoolVar(&o.request.Visit, "visit", false, "have the stage visit the entity then")
	return cmd
}

func (o *stateSetOptions) run(cmd *cobra.Command, s *session, args []string) error {
	if err := exclusive(cmd, "state", "file", "none"); err != nil {
		return err
	}
	if o.file == "" && !o.none && !cmd.Flags().Changed("state") {
		return usageErrorf("%s needs --state, --file or --none", cmd.CommandPath())
	}
	if !cmd.Flags().Changed("version") {
		return usageErrorf("%s needs --version: there is no unconditional write", cmd.CommandPath())
	}
	o.request.Type, o.request.Id, o.request.Stage = args[0], args[1], args[2]
	if !o.none {
		var err error
		if o.request.State, err = o.read(cmd); err != nil {
			return err
		}
	}
	return s.entities(cmd.Context(), func(ctx context.Context, client gnomonv1.EntityServiceClient) error {
		reply, err := client.UpdateStageState(ctx, &o.request)
		if err != nil {
			return err
		}
		p := s.printer(cmd)
		name := strings.Join(args, " ")
		if err := p.show(reply, func() string {
			if reply.GetUpdated() {
				return fmt.Sprintf("set %s: version %d", visible(name), reply.GetCurrent().GetVersion())
			}
			return p.stateCard(name, reply.GetCurrent())
		}); err != nil {
			return err
		}
		if reply.GetUpdated() {
			return nil
		}
		return outcomeError{noun: "state", id: name, state: fmt.Sprint("of version ", reply.GetCurrent().GetVersion()), advice: "it was not changed"}
	})
}

// read reads the new state.
func (o *stateSetOptions) read(cmd *cobra.Command) (*anypb.Any, error) {
	value := &structpb.Value{}
	if err := readObject(cmd, "state", o.state, o.file, value); err != nil {
		return nil, err
	}
	object := value.GetStructValue()
	if object == nil {
		return nil, usageErrorf("the state must be a JSON object")
	}
	if _, typed := object.GetFields()["@type"]; typed {
		raw, err := json.Marshal(object.AsMap())
		if err != nil {
			return nil, err
		}
		state := &anypb.Any{}
		return state, readObject(cmd, "state", string(raw), "", state)
	}
	return anypb.New(object)
}
