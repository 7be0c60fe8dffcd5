package serve

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"gnomon/examples/stages/offers"
	"gnomon/publish"
	"gnomon/stages"
)

// stagesCheck is how long a worker waits at its start for stages that do not answer.
const stagesCheck = 2 * time.Second

// Stages are those of a worker, and where it tells of what was saved.
type Stages struct {
	Set       *stages.Set
	Publisher publish.Publisher
}

// OpenStages reads the file of stages, if there is one, and logs which of them do not
// answer. The example stages are those that a file may have under go.
func OpenStages(ctx context.Context, file string, to *PublishFlags, log *slog.Logger) (Stages, error) {
	set, err := stages.Open(file, offers.Registry(offers.VideoConfig{}), log)
	if err != nil {
		return Stages{}, err
	}
	publisher, err := to.Open(set, log)
	if err != nil {
		return Stages{}, errors.Join(err, set.Close())
	}
	set.Check(ctx, stagesCheck, log)
	return Stages{set, publisher}, nil
}

// Close gives up what both keep.
func (s Stages) Close() error { return errors.Join(s.Publisher.Close(), s.Set.Close()) }
