// Package publish sends what was saved to those outside (seed 004, push after saving):
// to Kafka, to stages' OnSaved, to the log.
package publish

import (
	"context"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Publisher publishes records. Safe for concurrent use.
type Publisher interface {
	// Publish publishes records of one entity in their order, and returns when they are
	// safe where they went. After an error any number of them may have been published, and
	// all are published again (at least once, G-12).
	Publish(ctx context.Context, records []*gnomonv1.SavedRecord) error
	// Close releases what it holds.
	Close() error
}
