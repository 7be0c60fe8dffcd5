package activities

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// listener is told of progress, but for the times that it does not answer.
type listener struct {
	mu   sync.Mutex
	told []uint32
	deaf bool
}

// Tell implements Teller.
func (l *listener) Tell(_ context.Context, workflowID, runID string, p *workflowv1.BatchProgress) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deaf || workflowID != "batch/b" || runID != "r" {
		return errors.New("nobody listens")
	}
	l.told = append(l.told, p.GetCompleteChanges()+p.GetFailedChanges())
	return nil
}

// Issue 5: a round tells of each twentieth, every two seconds at most; what could not be
// told is told with the next; nothing is told of what attempts before have done, nor after
// the attempt has ended.
func TestProgressIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &listener{}
		p := &processing{Batches: &Batches{Teller: l}}
		p.progress.Store(&workflowv1.BatchProgress{Doing: "takes its turn"})
		p.told.Store(100) // of attempts before
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			p.tell(ctx, "batch/b", "r")
		}()
		at := func(finished uint32, deaf bool, want ...uint32) {
			t.Helper()
			l.mu.Lock()
			l.deaf = deaf
			l.mu.Unlock()
			p.progress.Store(&workflowv1.BatchProgress{CompleteChanges: finished - 10, FailedChanges: 10, PendingChanges: 1000 - finished})
			<-time.After(tellEvery)
			synctest.Wait()
			l.mu.Lock()
			defer l.mu.Unlock()
			require.Equal(t, want, l.told)
		}
		<-time.After(tellEvery)
		at(100, false)
		at(149, false)
		at(150, false, 150)
		at(160, false, 150)
		at(300, true, 150)
		at(301, false, 150, 301)
		at(350, false, 150, 301)
		at(1000, false, 150, 301, 1000)
		stop()
		<-ended
	})
}

// A worker without a client tells nobody.
func TestNobodyToTell(t *testing.T) {
	t.Parallel()
	(&processing{Batches: &Batches{}}).tell(t.Context(), "batch/b", "r")
}
