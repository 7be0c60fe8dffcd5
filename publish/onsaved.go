package publish

import (
	"context"
	"errors"
	"fmt"
	"sync"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/stages"
)

// OnSaved tells the stages of a set that ask for it what was saved of entities of their
// type: each all records in their order, with the state only where it is the stage's own
// (G-13). Stages are told at the same time; one that fails does not keep the others from
// being told, but all of them are told again.
func OnSaved(set *stages.Set) Publisher { return onSaved{set} }

type onSaved struct{ set *stages.Set }

// Publish implements Publisher.
func (o onSaved) Publish(ctx context.Context, records []*gnomonv1.SavedRecord) error {
	if len(records) == 0 {
		return nil
	}
	asking := o.asking(records[0].GetEntity().GetType())
	errs := make([]error, len(asking))
	var telling sync.WaitGroup
	for i, one := range asking {
		telling.Go(func() { errs[i] = tell(ctx, one, records) })
	}
	telling.Wait()
	return errors.Join(errs...)
}

func (o onSaved) asking(entityType string) []*stages.Declared {
	var asking []*stages.Declared
	for _, one := range o.set.Of(entityType) {
		if one.OnSaved {
			asking = append(asking, one)
		}
	}
	return asking
}

// tell stops at the first error, as the order is to be kept.
func tell(ctx context.Context, one *stages.Declared, records []*gnomonv1.SavedRecord) error {
	saver, ok := one.Stage.(stages.Saver)
	if !ok {
		return fmt.Errorf("stage %s: it asks for OnSaved and has none", one.Name)
	}
	for _, r := range records {
		if _, err := saver.OnSaved(ctx, &gnomonv1.OnSavedRequest{Stage: one.Name, Record: forStage(one.Name, r)}); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Publisher. The set is closed by who loaded it.
func (onSaved) Close() error { return nil }
