package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// Defaults of Config.
const (
	DefaultRate       = 100
	DefaultGrace      = time.Minute
	DefaultMaxOrphans = 100
	defaultSettle     = 2 * time.Second
	defaultPage       = 200
	defaultAnswerTime = 5 * time.Second
)

// Config says what is compared and how fast. Client and Store are required.
type Config struct {
	// Client is of the namespace that the workflows are in.
	Client client.Client
	// Store has the rows.
	Store store.Actions
	// TaskQueue is that of the workflows. Default workflowv1.DefaultTaskQueue.
	TaskQueue string
	// DryRun: nothing is repaired.
	DryRun bool
	// Rate is how many actions are looked at a second, each by a few calls. Above 0, up
	// to 100,000; default DefaultRate.
	Rate float64
	// Grace is how long after its last change by a client an action is left alone. Not
	// negative; default DefaultGrace.
	Grace time.Duration
	// Settle is how long lies between the two looks at what seems wrong. Default 2
	// seconds; not negative.
	Settle time.Duration
	// MaxOrphans is how many rows without any workflow a round buries; if there are
	// more it buries none. Negative: no limit. Default DefaultMaxOrphans.
	MaxOrphans int
	// Page is how many workflows or rows are read at once. 1 to 1,000, default 200.
	Page int
	// AnswerTime is how long a workflow may take to answer. Default 5 seconds.
	AnswerTime time.Duration
	// Now gives the time that the grace is measured by. Default time.Now.
	Now func() time.Time
	// Progress hears how far the round is, after every page. It may be nil.
	Progress func(Cursor)
}

func (c Config) withDefaults() Config {
	c.TaskQueue = cmp.Or(c.TaskQueue, workflowv1.DefaultTaskQueue)
	c.Rate = cmp.Or(c.Rate, DefaultRate)
	c.Grace = cmp.Or(c.Grace, DefaultGrace)
	c.Settle = cmp.Or(c.Settle, defaultSettle)
	c.MaxOrphans = cmp.Or(c.MaxOrphans, DefaultMaxOrphans)
	c.Page = cmp.Or(c.Page, defaultPage)
	c.AnswerTime = cmp.Or(c.AnswerTime, defaultAnswerTime)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Progress == nil {
		c.Progress = func(Cursor) {}
	}
	return c
}

func (c Config) validate() error {
	var bad []error
	if c.Client == nil || c.Store == nil {
		bad = append(bad, errors.New("Client and Store must be set"))
	}
	if !(c.Rate > 0 && c.Rate <= 100_000) {
		bad = append(bad, fmt.Errorf("Rate is %g and must be above 0 and at most 100000 a second", c.Rate))
	}
	if c.Grace < 0 || c.Settle < 0 || c.AnswerTime < 0 {
		bad = append(bad, fmt.Errorf("Grace is %s, Settle %s, AnswerTime %s and none may be negative", c.Grace, c.Settle, c.AnswerTime))
	}
	if c.Page < 1 || c.Page > 1000 {
		bad = append(bad, fmt.Errorf("Page is %d and must be 1 to 1000", c.Page))
	}
	return errors.Join(bad...)
}
