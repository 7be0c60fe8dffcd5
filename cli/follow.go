package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
)

// follower shows a thing of one kind as it goes on, until it is over.
type follower[M proto.Message] struct {
	watcher

	// noun is what the thing is called.
	noun string
	// over says whether nothing more is to be waited for.
	over func(M) bool
	// draw is the thing as a terminal shows it, line as one line for everything else. One
	// of a sequence: line may say what changed since the one before.
	draw, line func(M) string
}

// event is one message of a stream, or its end.
type event[M any] struct {
	message M
	err     error
}

// follow returns the thing as it stood at the end. Receive blocks until there is a change.
func (f *follower[M]) follow(ctx context.Context, receive func() (M, error)) (last M, err error) {
	events := make(chan event[M])
	go func() {
		for {
			message, err := receive()
			select {
			case events <- event[M]{message, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for seen := false; ; {
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-f.tick:
			if !seen {
				continue
			}
		case e := <-events:
			switch {
			case errors.Is(e.err, io.EOF):
				return last, fmt.Errorf("the server ended the watch before the %s ended; watch again", f.noun)
			case e.err != nil:
				return last, e.err
			}
			last, seen = e.message, true
		}
		if err := f.show(last); err != nil {
			return last, err
		}
		if f.over(last) {
			return last, nil
		}
	}
}

func (f *follower[M]) show(m M) error {
	if f.repaints {
		return f.repaint(f.draw(m))
	}
	return f.p.showOneOfMany(m, func() string { return f.line(m) })
}

// pages gathers pages until there are no more, or as many as limit wants (one page if it
// is 0). Page answers how many it had and the token to go on with.
func pages(size int32, token string, limit int, page func(size int32, token string) (got int, next string, err error)) (next string, err error) {
	for have := 0; ; {
		got, next, err := page(limitedPage(size, limit, have), token)
		if err != nil {
			return "", err
		}
		have, token = have+got, next
		if token == "" || have >= limit {
			return token, nil
		}
	}
}

// listing are the flags of every list.
type listing struct {
	size  int32
	token string
	limit int
}

func (l *listing) register(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.Int32Var(&l.size, "page-size", 0, what+" of one call, at most 1000 (default 50)")
	flags.StringVar(&l.token, "page-token", "", "go on where a page ended")
	flags.IntVar(&l.limit, "limit", 0, "page through until this many are listed (default one page)")
}

func (l *listing) check() error {
	if l.limit < 0 {
		return usageErrorf("--limit must not be negative, got %d", l.limit)
	}
	return nil
}

// more tells a person that a list goes on.
func (p *printer) more(token string) {
	if token != "" && p.format == outputTable {
		p.notef("there are more; go on with --page-token %s, or list more with --limit", token)
	}
}
