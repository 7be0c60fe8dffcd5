package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/store"
)

// calls is every method that takes a context.
func calls(s store.Actions) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"PutActions": func(ctx context.Context) error {
			_, err := s.PutActions(ctx, []store.Row{row("put")})
			return err
		},
		"InsertAction": func(ctx context.Context) error {
			_, err := s.InsertAction(ctx, row("inserted"))
			return err
		},
		"GetAction": func(ctx context.Context) error {
			_, err := s.GetAction(ctx, "a")
			return err
		},
		"ListActions": func(ctx context.Context) error {
			_, err := s.ListActions(ctx, store.ActionQuery{Limit: 1})
			return err
		},
		"PurgeActions": func(ctx context.Context) error {
			_, err := s.PurgeActions(ctx, 1)
			return err
		},
		"Ping": s.Ping,
	}
}

var lifecycleTests = []test{
	{"a store answers a ping", func(t *testing.T, b *bundle) {
		require.NoError(t, b.Ping(t.Context()))
	}},
	{"a context that was cancelled before does nothing", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for name, call := range calls(b) {
			require.ErrorIs(t, call(ctx), context.Canceled, name)
		}
		require.Equal(t, []string{"a"}, b.list(t, store.ActionQuery{}))
	}},
	{"a deadline that has passed says so", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a"))
		ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
		defer cancel()
		for name, call := range calls(b) {
			require.ErrorIs(t, call(ctx), context.DeadlineExceeded, name)
		}
	}},
	{"callers that leave do not disturb those that stay", func(t *testing.T, b *bundle) {
		together(t, func(client int) error {
			if client%2 == 0 {
				ctx, cancel := context.WithCancel(t.Context())
				go cancel()
				_, _ = b.PutActions(ctx, []store.Row{row(rowName(client))}) // applied or not
				return nil
			}
			_, err := b.PutActions(t.Context(), []store.Row{row(rowName(client))})
			return err
		})
		standing := b.list(t, store.ActionQuery{})
		for client := 1; client < writers; client += 2 {
			require.Contains(t, standing, rowName(client))
		}
		b.putAll(t, row("after"))
	}},
	{"a closed store refuses every call", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a"))
		require.NoError(t, b.Close())
		for name, call := range calls(b) {
			require.Error(t, call(t.Context()), name)
		}
		require.NoError(t, b.Close(), "closing again is no error")
	}},
	{"closing amid writes leaves none hanging", func(t *testing.T, b *bundle) {
		together(t, func(client int) error {
			if client == writers/2 {
				return b.Close()
			}
			_, _ = b.PutActions(t.Context(), []store.Row{row(rowName(client))}) // done or refused
			return nil
		})
	}},
}
