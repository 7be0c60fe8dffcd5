package cli

import "context"

// relay sends what comes until that ends, or the caller leaves.
func relay[T any](ctx context.Context, changes <-chan T, send func(T) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case change, more := <-changes:
			if !more {
				return nil
			}
			if err := send(change); err != nil {
				return err
			}
		}
	}
}
