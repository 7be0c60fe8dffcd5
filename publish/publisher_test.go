package publish_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/publish"
	"gnomon/stages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The log says which record it is and nothing of what is in it.
func TestLogHasNoContent(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := publish.Log(slog.New(slog.NewTextHandler(&out, nil)))
	require.NoError(t, p.Publish(t.Context(), []*gnomonv1.SavedRecord{record("1", 7, "price")}))
	require.NoError(t, p.Close())
	require.Contains(t, out.String(), "type=offer id=1 version=7 sequence=7 stage=price changed=true deleted=false commit=1-7")
	require.NotContains(t, out.String(), "content")
	require.NotContains(t, out.String(), "private")
}

// told is a stage that notes what it is told, or fails.
type told struct {
	stages.Stage

	mu   sync.Mutex
	got  []*gnomonv1.OnSavedRequest
	fail map[int64]error
}

func (s *told) OnSaved(_ context.Context, r *gnomonv1.OnSavedRequest) (*gnomonv1.OnSavedResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, r)
	if err := s.fail[r.GetRecord().GetSequence()]; err != nil {
		return nil, err
	}
	return &gnomonv1.OnSavedResponse{}, nil
}

func (s *told) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := ""
	for _, r := range s.got {
		text += fmt.Sprintf("%s %d state=%t;", r.GetStage(), r.GetRecord().GetSequence(), r.GetRecord().GetState() != nil)
	}
	s.got = nil
	return text
}

func declared(name, entityType string, asks bool, s stages.Stage) *stages.Declared {
	return stages.Declare(stages.Declaration{Name: name, EntityType: entityType, Go: name, OnSaved: asks}, s, slog.New(slog.DiscardHandler))
}

// G-13: who asks for it is told all records of its type in order, with no state but its
// own.
func TestOnSaved(t *testing.T) {
	t.Parallel()
	price, photos, deaf, album := &told{}, &told{}, &told{}, &told{}
	p := publish.OnSaved(stages.NewSet(
		declared("price", "offer", true, price), declared("photos", "offer", true, photos), declared("deaf", "offer", false, deaf), declared("album", "album", true, album),
	))
	all := []*gnomonv1.SavedRecord{record("1", 1, ""), record("1", 2, "price"), record("1", 3, "photos"), record("1", 4, "deaf")}
	require.NoError(t, p.Publish(t.Context(), all))
	require.Equal(t, "price 1 state=false;price 2 state=true;price 3 state=false;price 4 state=false;", price.String())
	require.Equal(t, "photos 1 state=false;photos 2 state=false;photos 3 state=true;photos 4 state=false;", photos.String())
	require.Empty(t, deaf.String())
	require.Empty(t, album.String())

	// One that fails is told no more than that, the other all.
	price.fail = map[int64]error{2: errors.New("no")}
	require.EqualError(t, p.Publish(t.Context(), all), "stage price: OnSaved: Unknown: no")
	require.Equal(t, "price 1 state=false;price 2 state=true;", price.String())
	require.Equal(t, "photos 1 state=false;photos 2 state=false;photos 3 state=true;photos 4 state=false;", photos.String())
	require.NoError(t, p.Publish(t.Context(), nil))
	require.NoError(t, p.Close())
}

// A declaration that asks for what the stage has not is an error, and not silence.
func TestOnSavedOfAStageWithoutIt(t *testing.T) {
	t.Parallel()
	p := publish.OnSaved(stages.NewSet(declared("price", "offer", true, struct{ stages.Stage }{})))
	require.ErrorContains(t, p.Publish(t.Context(), []*gnomonv1.SavedRecord{record("1", 1, "")}), "stage price: OnSaved: Unimplemented")
}

// part is a publisher that may fail.
type part struct {
	got    []int64
	fail   error
	closed bool
}

func (p *part) Publish(_ context.Context, records []*gnomonv1.SavedRecord) error {
	for _, r := range records {
		p.got = append(p.got, r.GetSequence())
	}
	return p.fail
}

func (p *part) Close() error {
	p.closed = true
	return p.fail
}

// G-12: all get all; who got it already is not sent it again by this process because of
// others that fail.
func TestMulti(t *testing.T) {
	t.Parallel()
	good, bad := &part{}, &part{fail: errors.New("down")}
	p := publish.Multi(good, bad)
	one, two := record("1", 1, ""), record("1", 2, "")
	require.ErrorContains(t, p.Publish(t.Context(), []*gnomonv1.SavedRecord{one}), "down")
	require.ErrorContains(t, p.Publish(t.Context(), []*gnomonv1.SavedRecord{one, two}), "down")
	require.Equal(t, []int64{1, 2}, good.got)
	require.Equal(t, []int64{1, 1, 2}, bad.got)
	bad.fail = nil
	require.NoError(t, p.Publish(t.Context(), []*gnomonv1.SavedRecord{one, two}))
	require.Equal(t, []int64{1, 2}, good.got)
	require.Equal(t, []int64{1, 1, 2, 1, 2}, bad.got)
	// All have it: it is forgotten, and would be sent again.
	require.NoError(t, p.Publish(t.Context(), []*gnomonv1.SavedRecord{two}))
	require.Equal(t, []int64{1, 2, 2}, good.got)
	bad.fail = errors.New("stuck")
	require.EqualError(t, p.Close(), "stuck")
	require.True(t, good.closed)
	require.Same(t, good, publish.Multi(good))
}
