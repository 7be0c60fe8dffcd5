package cli

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// printer shows replies: the very message as JSON or YAML, or a text for people.
type printer struct {
	out, err io.Writer
	format   outputFormat
	style    style
	width    int
	moment   moment

	documents int
}

// show writes one message in the format asked for; text makes the one for people.
func (p *printer) show(m proto.Message, text func() string) error {
	var body []byte
	var err error
	switch p.format {
	case outputJSON:
		body, err = encodeIndented(m)
	case outputYAML:
		body, err = encodeYAML(m)
	default:
		body = []byte(text())
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s\n", body)
	return err
}

// showOneOfMany is show where more of the same follow: JSON is one line each, YAML
// one document each.
func (p *printer) showOneOfMany(m proto.Message, text func() string) error {
	switch p.format {
	case outputJSON:
		line, err := encodeLine(m)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.out, "%s\n", line)
		return err
	case outputYAML:
		if p.documents++; p.documents > 1 {
			if _, err := fmt.Fprintln(p.out, "---"); err != nil {
				return err
			}
		}
	case outputTable:
	}
	return p.show(m, text)
}

// warn shows the conditions of a reply that do not hold (Applied, Mirrored, ...).
func (p *printer) warn(action *gnomonv1.ScheduledAction) {
	p.warnOf(action.GetMeta().GetId(), action.GetStatus().GetConditions())
}

func (p *printer) warnOf(id string, conditions []*gnomonv1.Condition) {
	for _, c := range conditions {
		if c.GetStatus() == gnomonv1.Condition_FALSE {
			fmt.Fprintln(p.err, visible("warning: "+id+": "+condition(c)))
		}
	}
}

// notef says something about what is being done.
func (p *printer) notef(format string, args ...any) {
	fmt.Fprintln(p.err, visible("note: "+fmt.Sprintf(format, args...)))
}
