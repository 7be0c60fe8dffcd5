package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func watchCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "watch ID",
		Short: "Follow an action until it ends",
		Long: `Follow an action until it ends, or until Ctrl-C.

A terminal shows the action as it stands; elsewhere every change is a line, with
'-o json' the action as one line of JSON.`,
		Example: `  gnomon action watch hello
  gnomon action watch hello -o json`,
		Args:              oneID,
		ValidArgsFunction: completeIDs(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, closeClient, err := s.connect()
			if err != nil {
				return err
			}
			defer closeClient()
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			stream, err := client.WatchAction(ctx, &gnomonv1.WatchActionRequest{Id: args[0]})
			if err != nil {
				return err
			}
			return s.watcher(cmd).follow(ctx, receive(ctx, stream))
		},
	}
}

// change is one message of the stream, or its end.
type change struct {
	action *gnomonv1.ScheduledAction
	err    error
}

// receive turns the stream into a channel that ends with an error or io.EOF.
func receive(ctx context.Context, stream interface {
	Recv() (*gnomonv1.WatchActionResponse, error)
},
) <-chan change {
	changes := make(chan change)
	go func() {
		for {
			reply, err := stream.Recv()
			select {
			case changes <- change{reply.GetAction(), err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return changes
}

// watcher shows changes, and between them how the time goes by on a terminal.
type watcher struct {
	p        *printer
	height   int
	repaints bool
	tick     <-chan time.Time

	painted int
}

func (s *session) watcher(cmd *cobra.Command) *watcher {
	w := &watcher{p: s.printer(cmd)}
	_, w.height, w.repaints = s.env.terminal(cmd.OutOrStdout())
	w.repaints = w.repaints && w.p.format == outputTable
	if w.repaints {
		w.tick = time.Tick(time.Second)
	}
	return w
}

// follow returns nil once the action has ended.
func (w *watcher) follow(ctx context.Context, changes <-chan change) error {
	var last *gnomonv1.ScheduledAction
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.tick:
			if last == nil {
				continue
			}
		case c := <-changes:
			switch {
			case errors.Is(c.err, io.EOF) && finished(last.GetStatus().GetState()):
				return nil
			case errors.Is(c.err, io.EOF):
				return errors.New("the server ended the watch before the action ended; watch again")
			case c.err != nil:
				return c.err
			}
			last = c.action
		}
		if err := w.show(last); err != nil {
			return err
		}
		if finished(last.GetStatus().GetState()) {
			return nil
		}
	}
}

func (w *watcher) show(action *gnomonv1.ScheduledAction) error {
	if w.repaints {
		return w.repaint(w.p.card(action))
	}
	return w.p.showOneOfMany(action, func() string { return w.p.changeLine(action) })
}

// repaint puts text in the place of the one before. It is cut to the terminal's
// height, as lines are to its width: what was wrapped or has scrolled away could not
// be counted.
func (w *watcher) repaint(text string) error {
	lines := strings.Split(text, "\n")
	lines = lines[:min(len(lines), max(1, w.height-1))]
	back := ""
	if w.painted > 0 {
		back = fmt.Sprintf("\x1b[%dA\x1b[J", w.painted)
	}
	w.painted = len(lines)
	_, err := fmt.Fprintf(w.p.out, "%s%s\n", back, strings.Join(lines, "\n"))
	return err
}

// changeLine is a change as one line, without relative times: it may be read later.
func (p *printer) changeLine(action *gnomonv1.ScheduledAction) string {
	st := action.GetStatus()
	parts := []string{utc(p.moment.now().Truncate(time.Millisecond)), p.style.state(st.GetState())}
	if due := st.GetScheduledAt(); due != nil && !finished(st.GetState()) {
		parts = append(parts, "due="+utc(due.AsTime()))
	}
	parts = append(parts, "ok/fail/int="+counters(st))
	if current := st.GetCurrentAttemptStatus(); current != nil {
		parts = append(parts, fmt.Sprintf("current=#%d", current.GetAttempt()))
	}
	if last := st.GetLastAttemptStatus(); last != nil {
		parts = append(parts, fmt.Sprintf("last=#%d:%s", last.GetAttempt(), outcomeName(last)))
		if last.GetError() != "" {
			parts = append(parts, fmt.Sprintf("error=%q", shortened(last.GetError(), 200)))
		}
	}
	for _, c := range st.GetConditions() {
		if c.GetStatus() == gnomonv1.Condition_FALSE {
			parts = append(parts, visible(c.GetType()+"=FALSE"))
		}
	}
	return strings.Join(parts, " ")
}
