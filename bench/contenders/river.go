package contenders

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverJob is what River keeps of a job.
type riverJob struct {
	// ID makes the job unique, as an action's does.
	ID   string `json:"id"   river:"unique"`
	URL  string `json:"url"`
	Body []byte `json:"body"`
}

// Kind implements river.JobArgs.
func (riverJob) Kind() string { return "post" }

type riverWorker struct {
	river.WorkerDefaults[riverJob]

	poster *poster
}

// Work implements river.Worker.
func (w *riverWorker) Work(ctx context.Context, job *river.Job[riverJob]) error {
	return w.poster.Post(ctx, Input{URL: job.Args.URL, Body: job.Args.Body})
}

// riverQueue is RV.
type riverQueue struct {
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
}

// NewRiver starts River on a PostgreSQL database, which it migrates.
func NewRiver(ctx context.Context, url string, log *slog.Logger) (_ Contender, err error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			pool.Close()
		}
	}()
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: log})
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &riverWorker{poster: newPoster()})
	client, err := river.NewClient(driver, &river.Config{
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 100}},
		Workers: workers, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	return &riverQueue{pool, client}, client.Start(context.WithoutCancel(ctx))
}

// Name implements Contender.
func (*riverQueue) Name() string { return RV }

// Resolution implements Contender.
func (*riverQueue) Resolution() time.Duration { return 0 }

// Create implements Contender.
func (r *riverQueue) Create(ctx context.Context, j Job) error {
	_, err := r.client.Insert(ctx, riverJob{ID: j.ID, URL: j.URL, Body: j.Body}, &river.InsertOpts{
		ScheduledAt: j.Due, MaxAttempts: 1 + retries, UniqueOpts: river.UniqueOpts{ByArgs: true},
	})
	return err
}

// Close implements Contender.
func (r *riverQueue) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = r.client.StopAndCancel(ctx)
	r.pool.Close()
}
