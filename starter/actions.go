package starter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/changes"
	"gnomon/stages"
	"gnomon/store"
)

// Config is what the facade needs. Zero fields get their defaults.
type Config struct {
	// Client is connected to Temporal. Required.
	Client client.Client
	// Namespace is the client's. Default "default".
	Namespace string
	// TaskQueue is the one that workers poll. Default "gnomon".
	TaskQueue string
	// Store is the mirror of actions and holds batches and entities. Required.
	Store store.Store
	// Stages are those that are declared (seed 004). Workers must have the same. Default:
	// none.
	Stages *stages.Set
	// Changes are the kinds of changes of batches. Workers should have the same.
	Changes changes.Set
	// AllowMockActions accepts mock_action (M-03).
	AllowMockActions bool
	// Build names the build, a release's as a rule. An action is started as one that this
	// build takes part in, which its first task would make of it otherwise, if the worker has
	// the same: a write less for Temporal's lists. Default: none, as for "dev".
	Build string
	// ApplyTimeout is how long a command waits for a worker to apply it before it is
	// left as a signal. Default 3 seconds.
	ApplyTimeout time.Duration
	// MirrorTimeout is how long a call waits for the facade's own write to the mirror.
	// Default 1.5 seconds.
	MirrorTimeout time.Duration
	// MirrorPatience is for how long the facade tries on to write the first row of an
	// action that the store did not take, before it asks the action's workflow to.
	// Default 5 minutes.
	MirrorPatience time.Duration
	// WatchInterval is how often WatchAction and its like look. Default 250 milliseconds.
	WatchInterval time.Duration
	// Now is the facade's clock, for validation and create_time. Default time.Now.
	Now func() time.Time
	// Untold is called when a change of an entity is stored and could not be told to its
	// workflow, which the worker sees to later. Default: nothing.
	Untold func()
	// Logger gets what operators should know. Default slog.Default.
	Logger *slog.Logger
}

// WithDefaults gives the configuration with its zero fields filled in.
func (c Config) WithDefaults() Config {
	c.Namespace = cmp.Or(c.Namespace, client.DefaultNamespace)
	c.TaskQueue = cmp.Or(c.TaskQueue, workflowv1.DefaultTaskQueue)
	c.ApplyTimeout = cmp.Or(c.ApplyTimeout, 3*time.Second)
	c.MirrorTimeout = cmp.Or(c.MirrorTimeout, 1500*time.Millisecond)
	c.MirrorPatience = cmp.Or(c.MirrorPatience, 5*time.Minute)
	c.WatchInterval = cmp.Or(c.WatchInterval, 250*time.Millisecond)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Stages == nil {
		c.Stages = stages.NewSet()
	}
	if c.Untold == nil {
		c.Untold = func() {}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// Validate says what is wrong with a configuration that has its defaults.
func (c Config) Validate() error {
	var problems []error
	if c.Client == nil {
		problems = append(problems, errors.New("Client must be set"))
	}
	if c.Store == nil {
		problems = append(problems, errors.New("Store must be set"))
	}
	if c.ApplyTimeout <= 0 || c.MirrorTimeout <= 0 || c.MirrorPatience <= 0 || c.WatchInterval <= 0 {
		problems = append(problems, fmt.Errorf("ApplyTimeout, MirrorTimeout, MirrorPatience and WatchInterval must be positive, are %s, %s, %s, %s",
			c.ApplyTimeout, c.MirrorTimeout, c.MirrorPatience, c.WatchInterval))
	}
	return errors.Join(problems...)
}

// Actions is the facade of scheduled actions: it validates, starts or commands the
// workflow, and reads the store. It holds no state but first rows that the store has not
// taken yet.
type Actions struct {
	gnomonv1.UnimplementedActionServiceServer

	Config

	payloads converter.DataConverter
	late     *lateRows
}

// NewActions returns the service.
func NewActions(c Config) (*Actions, error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("starter: %w", err)
	}
	s := &Actions{Config: c, payloads: converter.GetDefaultDataConverter(), late: newLateRows(c.MirrorPatience)}
	s.late.try = s.insertLate
	s.late.ask = func(ctx context.Context, row store.Row) { s.askForRow(ctx, row.Action.GetMeta().GetId(), "") }
	return s, nil
}

// Close waits for the rows that are being written and asks the workflows of those that the
// store did not take to see to them, as long as ctx allows. It comes after the last call.
func (s *Actions) Close(ctx context.Context) { s.late.close(ctx) }

// Ready says whether the facade can accept actions: Temporal answers.
func (s *Actions) Ready(ctx context.Context) error {
	_, err := s.Client.CheckHealth(ctx, &client.CheckHealthRequest{})
	return err
}

// ListActions implements the service.
func (s *Actions) ListActions(ctx context.Context, req *gnomonv1.ListActionsRequest) (*gnomonv1.ListActionsResponse, error) {
	return list(ctx, s.Store, req)
}
