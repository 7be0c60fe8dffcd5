package publish

import (
	"context"
	"errors"
	"sync"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// maxRemembered bounds what a Multi remembers of commits; beyond it they are published
// again to all.
const maxRemembered = 10000

// Multi publishes to several at the same time. One that fails does not keep the others
// from getting the records; since all are published again then, it remembers who has got
// which, as far as this process saw it, so that a stage that is down for a day does not
// fill a topic. An entity's records come from one call at a time.
func Multi(all ...Publisher) Publisher {
	if len(all) == 1 {
		return all[0]
	}
	return &multi{all: all, had: map[string]map[int]bool{}}
}

type multi struct {
	all []Publisher

	mu sync.Mutex
	// had says by commits which of all have got them, for those that some have not.
	had map[string]map[int]bool
}

// Publish implements Publisher.
func (m *multi) Publish(ctx context.Context, records []*gnomonv1.SavedRecord) error {
	errs := make([]error, len(m.all))
	var publishing sync.WaitGroup
	for i, one := range m.all {
		owed := m.owed(i, records)
		if len(owed) == 0 {
			continue
		}
		publishing.Go(func() { errs[i] = one.Publish(ctx, owed) })
	}
	publishing.Wait()
	err := errors.Join(errs...)
	m.remember(records, errs, err != nil)
	return err
}

// owed are the records that one of all has not got.
func (m *multi) owed(i int, records []*gnomonv1.SavedRecord) []*gnomonv1.SavedRecord {
	m.mu.Lock()
	defer m.mu.Unlock()
	var owed []*gnomonv1.SavedRecord
	for _, r := range records {
		if !m.had[r.GetCommitId()][i] {
			owed = append(owed, r)
		}
	}
	return owed
}

// remember notes who has got the records if some have not, and forgets them if all have.
func (m *multi) remember(records []*gnomonv1.SavedRecord, errs []error, owing bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range records {
		id := r.GetCommitId()
		if !owing || id == "" {
			delete(m.had, id)
			continue
		}
		had, known := m.had[id]
		if !known {
			if len(m.had) >= maxRemembered {
				continue
			}
			had = map[int]bool{}
			m.had[id] = had
		}
		for i, err := range errs {
			if err == nil {
				had[i] = true
			}
		}
	}
}

// Close implements Publisher.
func (m *multi) Close() error {
	errs := make([]error, len(m.all))
	for i, one := range m.all {
		errs[i] = one.Close()
	}
	return errors.Join(errs...)
}
