package verdict

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/record"
	"gnomon/store"
	"gnomon/store/sqlite"
)

// keep writes records to a directory as the processes of a run do.
func keep(t *testing.T, b books) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, record.WriteRun(dir, b.Run))
	lines(t, dir, record.ArrivalsFile, b.Arrivals)
	lines(t, dir, record.VisitsFile, b.Visits)
	lines(t, dir, record.CallsFile, b.Calls)
	lines(t, dir, record.InjectionsFile, b.Injections)
	lines(t, dir, record.RowsFile, b.Watched)
	lines(t, dir, record.FinalsFile, b.Finals)
	rows, err := sqlite.Open(t.Context(), sqlite.Config{
		Path: filepath.Join(dir, record.StoreFile), Migrate: true, Now: time.Now,
	})
	require.NoError(t, err)
	for _, r := range b.Rows {
		r.Revision = store.Revision{Incarnation: start, Sequence: 2}
		r.Action.Spec = &gnomonv1.Spec{StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(start)}}
		_, err := rows.PutActions(t.Context(), []store.Row{r})
		require.NoError(t, err)
	}
	require.NoError(t, rows.Close())
	return dir
}

func lines[T any](t *testing.T, dir, name string, all []T) {
	t.Helper()
	log, err := record.OpenLog(dir, name)
	require.NoError(t, err)
	for _, v := range all {
		log.Add(v)
	}
	require.NoError(t, log.Close())
}

// verdictOf runs the judge's command on a directory.
func verdictOf(t *testing.T, dir string) (*Verdict, error) {
	t.Helper()
	cmd := Command()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs([]string{dir, "-o", "json"})
	err := cmd.ExecuteContext(t.Context())
	v := &Verdict{}
	require.NoError(t, json.Unmarshal(out.Bytes(), v), out.String())
	return v, err
}

// The judge decides from files alone, and its exit says what it found.
func TestJudgeReadsTheRecordsOfADirectory(t *testing.T) {
	t.Parallel()
	v, err := verdictOf(t, keep(t, retried()))
	require.NoError(t, err)
	require.Empty(t, v.Broken)
	require.Equal(t, 1, v.Injections["F1"])

	bad := retried()
	bad.Visits[1].Key = "another"
	v, err = verdictOf(t, keep(t, bad))
	require.ErrorIs(t, err, ErrBroken)
	require.Equal(t, []int{3}, promises(v)[:1])
}

// Records that cannot be read are no acquittal.
func TestJudgeRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	_, err := Load(t.Context(), t.TempDir())
	require.Error(t, err)

	dir := keep(t, retried())
	log, err := record.OpenLog(dir, record.CallsFile)
	require.NoError(t, err)
	log.Add("no call")
	require.NoError(t, log.Close())
	_, err = Load(t.Context(), dir)
	require.ErrorContains(t, err, "calls.jsonl, line 2")
}
