package channels

import (
	"context"
	"fmt"
	"log/slog"

	"gnomon/notices"
)

// logged writes notices to the log.
type logged struct {
	name, link string
	log        *slog.Logger
}

// Name implements notices.Channel.
func (l *logged) Name() string { return l.name }

// Send implements notices.Channel: a warning for a batch that needs a person, news for
// others.
func (l *logged) Send(ctx context.Context, n notices.Notice) error {
	m := messageOf(n, l.link)
	level := slog.LevelInfo
	if n.Event == notices.ScheduledChangeFailed {
		level = slog.LevelWarn
	}
	var problems []string
	for _, p := range m.Problems {
		where := "batch"
		if p.ChangeIndex != nil {
			where = fmt.Sprint(*p.ChangeIndex)
		}
		problems = append(problems, where+" "+p.Code)
	}
	l.log.Log(ctx, level, m.subject()+".",
		"event", m.Event, "key", m.Key, "batch", m.BatchID, "state", m.State, "round", m.Round,
		"complete", m.Complete, "failed", m.Failed, "pending", m.Pending,
		"problems", problems, "moreProblems", m.More, "link", m.Link)
	return nil
}
