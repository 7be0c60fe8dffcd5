package verdict

import (
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/record"
)

// legal says whether the history of the id "a" has an order that explains it.
func legal(b books) bool {
	h := b.history("a", b.callsByID()["a"], by(b.Visits, func(v record.Visit) string { return v.ID })["a"], b.specs())
	return porcupine.CheckOperations(lives, h)
}

// F4, F10: a call whose answer was lost may have happened or not; both explain what
// followed, and what neither explains is a violation.
func TestCallWithoutAnswerMayHaveHappened(t *testing.T) {
	t.Parallel()
	lost := func(then string) books {
		b := newBooks("F10")
		b.call(record.Create, "a", "g1", "OK", 0, 50, due(200_000))
		b.call(record.Delete, "a", "", "", 100, 150, nil)
		b.call(record.Pause, "a", "", then, 200, 250, nil).GUID = map[string]string{"OK": "g1"}[then]
		return b
	}
	happened := lost("NotFound")
	happened.ends("a", "g1", gnomonv1.Status_DELETED, 0, 0)
	require.True(t, legal(happened))

	not := lost("OK")
	not.ends("a", "g1", gnomonv1.Status_PAUSED, 0, 0)
	require.True(t, legal(not))

	later := lost("OK") // after the pause: it was on its way for long
	later.ends("a", "g1", gnomonv1.Status_DELETED, 0, 0)
	require.True(t, legal(later))

	neither := lost("NotFound")
	neither.ends("a", "g1", gnomonv1.Status_SCHEDULED, 0, 0)
	require.False(t, legal(neither))
}

// F10: the Guid of an update that nobody heard of is the one that nobody was told.
func TestGUIDOfALostUpdateIsNoOther(t *testing.T) {
	t.Parallel()
	b := newBooks("F10")
	b.call(record.Create, "a", "g1", "OK", 0, 50, due(1000))
	b.call(record.Update, "a", "", "", 100, 150, due(2000))
	b.visit("a", "g2", 2000, 2010, 2050, 1, 200)
	b.ends("a", "g2", gnomonv1.Status_SUCCEEDED, 1, 0)
	require.True(t, legal(b))

	b.visit("a", "g1", 1000, 3500, 3550, 1, 200)
	require.False(t, legal(b), "the old spec was attempted after the new one")
}

// F10: what is due, triggered, paused and deleted at once has one order.
func TestAttemptsNeedAReason(t *testing.T) {
	t.Parallel()
	early := newBooks("F10")
	early.call(record.Create, "a", "g1", "OK", 0, 50, due(200_000))
	early.visit("a", "g1", 1000, 1010, 1050, 1, 200)
	early.ends("a", "g1", gnomonv1.Status_SUCCEEDED, 1, 0)
	require.False(t, legal(early), "nobody triggered it")

	early.call(record.Trigger, "a", "g1", "OK", 900, 1100, nil)
	require.True(t, legal(early))

	deleted := newBooks("F10")
	deleted.call(record.Create, "a", "g1", "OK", 0, 50, due(1000))
	deleted.call(record.Delete, "a", "g1", "OK", 100, 150, nil)
	deleted.visit("a", "g1", 1000, 1010, 1050, 1, 200)
	deleted.ends("a", "g1", gnomonv1.Status_DELETED, 0, 0)
	require.False(t, legal(deleted), "performed after its deletion was acknowledged")

	etag := newBooks("F10")
	etag.call(record.Create, "a", "g1", "OK", 0, 50, due(200_000))
	etag.call(record.Update, "a", "g2", "OK", 100, 150, due(200_000))
	etag.call(record.Update, "a", "g3", "OK", 200, 250, due(200_000)).Etag = "g1"
	etag.ends("a", "g3", gnomonv1.Status_SCHEDULED, 0, 0)
	require.False(t, legal(etag), "an update went through with an etag that was no longer current")
}
