package publish

import (
	"context"
	"log/slog"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Log writes a line for each record that says which it is, and nothing of what is in it.
func Log(log *slog.Logger) Publisher { return logged{log} }

type logged struct{ log *slog.Logger }

// Publish implements Publisher.
func (l logged) Publish(ctx context.Context, records []*gnomonv1.SavedRecord) error {
	for _, r := range records {
		l.log.InfoContext(ctx, "An entity was saved.",
			"type", r.GetEntity().GetType(), "id", r.GetEntity().GetId(), "version", r.GetEntity().GetVersion(),
			"sequence", r.GetSequence(), "stage", r.GetStage(), "changed", r.GetChanged(), "deleted", r.GetDeleted(), "commit", r.GetCommitId())
	}
	return nil
}

// Close implements Publisher.
func (logged) Close() error { return nil }
