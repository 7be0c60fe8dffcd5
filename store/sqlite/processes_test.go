package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/sqlite"
)

// childPath, set in the environment, makes this test binary the process that is
// killed: it writes to the database of that path until then.
const childPath = "GNOMON_TEST_SQLITE_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		if err := writeForever(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// writeForever writes with several clients and prints each id once its write was
// acknowledged.
func writeForever(path string) error {
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path, Migrate: true})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for client := range 8 {
		go func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d", client, i)
				if _, err := s.PutActions(context.Background(), []store.Row{numbered(id, 1)}); err != nil {
					failed <- err
					return
				}
				fmt.Println(id)
			}
		}()
	}
	return <-failed
}

func numbered(id string, sequence uint64) store.Row {
	return store.Row{
		Action:   &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: id}},
		Revision: store.Revision{Sequence: sequence},
	}
}

// Issue 2: killed with -9, nothing that was acknowledged is lost.
func TestAcknowledgedWritesOutliveAKilledProcess(t *testing.T) {
	t.Parallel()
	path := file(t)
	for range 3 {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), childPath+"="+path)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		var acknowledged []string
		for lines := bufio.NewScanner(out); lines.Scan(); {
			acknowledged = append(acknowledged, lines.Text())
			if len(acknowledged) == 200 {
				require.NoError(t, child.Process.Kill()) // amid its writes; what it still printed counts too
			}
		}
		require.Error(t, child.Wait(), "it was killed")
		require.GreaterOrEqual(t, len(acknowledged), 200)

		s := open(t, sqlite.Config{Path: path})
		for _, id := range acknowledged[:len(acknowledged)-1] { // the last line may be cut short
			_, err := s.GetAction(t.Context(), id)
			require.NoError(t, err, id)
		}
		require.NoError(t, s.Close())
	}
}

// Facade and worker are two processes on one file. Two stores have connections of
// their own as well, and share nothing else.
func TestTwoStoresTakeTurnsAtOneFile(t *testing.T) {
	t.Parallel()
	path := file(t)
	stores := []*sqlite.Store{open(t, sqlite.Config{Path: path, Migrate: true}), open(t, sqlite.Config{Path: path})}
	const clients, each = 8, 25
	var wg sync.WaitGroup
	errs := make([]error, clients)
	for client := range clients {
		wg.Go(func() {
			for i := range each {
				id := fmt.Sprintf("%d-%d", client, i)
				applied, err := stores[client%2].PutActions(t.Context(), []store.Row{
					numbered(id, 1), numbered("shared", uint64(client*each+i)+1),
				})
				if err != nil || !applied[0] {
					errs[client] = fmt.Errorf("%s: %v, %w", id, applied, err)
					return
				}
				if _, err := stores[(client+1)%2].GetAction(t.Context(), id); err != nil {
					errs[client] = fmt.Errorf("%s is not seen through the other store: %w", id, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	for _, s := range stores {
		rows, err := s.ListActions(t.Context(), store.ActionQuery{Limit: 1000})
		require.NoError(t, err)
		require.Len(t, rows, clients*each+1)
		newest, err := s.GetAction(t.Context(), "shared")
		require.NoError(t, err)
		require.EqualValues(t, clients*each, newest.Revision.Sequence)
	}
}
