package cli

import (
	"fmt"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// result shows the reply to a command: one line for people, the message for
// programs, and a warning for conditions that do not hold.
func (p *printer) result(word string, action *gnomonv1.ScheduledAction) error {
	p.warn(action)
	return p.show(action, func() string { return p.resultLine(word, action) })
}

// resultOfMany is result where more follow.
func (p *printer) resultOfMany(word string, action *gnomonv1.ScheduledAction) error {
	p.warn(action)
	return p.showOneOfMany(action, func() string { return p.resultLine(word, action) })
}

func (p *printer) resultLine(word string, action *gnomonv1.ScheduledAction) string {
	line := fmt.Sprintf("%s %s: %s", word, visible(action.GetMeta().GetId()), p.style.state(action.GetStatus().GetState()))
	if due := action.GetStatus().GetScheduledAt(); due != nil && !finished(action.GetStatus().GetState()) {
		line += ", due " + p.moment.both(due)
	}
	return line
}
