package storetest

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// entityModel is what the documentation of store.Entities says of one entity, in the
// simplest words. Content is the value of the fields a and b, 0 for none.
type entityModel struct {
	now      int // seconds
	stands   bool
	version  int64
	by       string
	content  [2]int
	states   map[string]modelState
	versions map[string]int64 // the greatest of each stage's state ever
	records  []modelRecord
	requests map[string]modelRequest
	visits   map[string]modelVisit // the last commit of each stage
	holder   string
	until    int
}

type modelState struct {
	text    string // empty is none
	version int64
}

func modelStateOf(t *rapid.T, s *gnomonv1.StageState) modelState {
	return modelState{text: textOf(t, s), version: s.GetVersion()}
}

type modelRecord struct {
	version          int64
	stage, state     string
	changed, deleted bool
	commitID         string // empty is any
}

type modelRequest struct {
	digest  string
	version int64
	changed bool
}

type modelVisit struct {
	id      string
	version int64
	changed bool
	gone    bool
}

func newEntityModel() *entityModel {
	return &entityModel{
		now: 1, states: map[string]modelState{}, versions: map[string]int64{}, requests: map[string]modelRequest{}, visits: map[string]modelVisit{},
	}
}

// fields are those that differ.
func (m *entityModel) fields(next [2]int) []string {
	had := m.content
	if !m.stands {
		had = [2]int{}
	}
	var names []string
	for i, name := range []string{"a", "b"} {
		if had[i] != next[i] {
			names = append(names, name)
		}
	}
	return names
}

// change makes a version, unless the content is the same.
func (m *entityModel) change(next [2]int, by, commitID string) bool {
	if m.stands && m.content == next {
		return false
	}
	m.stands, m.content, m.by = true, next, by
	m.version++
	m.records = append(m.records, modelRecord{version: m.version, stage: by, changed: true, commitID: commitID})
	return true
}

func (m *entityModel) remove(by, commitID string) {
	m.stands, m.content = false, [2]int{}
	m.version++
	m.states = map[string]modelState{}
	m.records = append(m.records, modelRecord{version: m.version, stage: by, changed: true, deleted: true, commitID: commitID})
}

// replace sets a state, unless it is the same.
func (m *entityModel) replace(stage, text string) bool {
	if m.states[stage].text == text {
		return false
	}
	m.versions[stage]++
	m.states[stage] = modelState{text: text, version: m.versions[stage]}
	return true
}

// entityWorld drives a store and the model through the same calls.
type entityWorld struct {
	*entityBundle

	m    *entityModel
	key  store.EntityKey
	open map[string]store.VisitBegun // what visits were given, by their holders
}

var (
	modelStages   = []string{"s", "s2"}
	modelContents = rapid.Custom(func(t *rapid.T) [2]int {
		return [2]int{rapid.IntRange(0, 2).Draw(t, "a"), rapid.IntRange(0, 1).Draw(t, "b")}
	})
	modelTexts = rapid.SampledFrom([]string{"", "x", "y"})
)

func modelContent(c [2]int) *structpb.Struct {
	s := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for i, name := range []string{"a", "b"} {
		if c[i] != 0 {
			s.Fields[name] = structpb.NewNumberValue(float64(c[i]))
		}
	}
	return s
}

func modelPrivate(text string) *gnomonv1.StageState {
	if text == "" {
		return &gnomonv1.StageState{}
	}
	return private(text)
}

func (w *entityWorld) at() time.Time { return secs(w.m.now) }

func (w *entityWorld) someVersion(t *rapid.T, current int64) int64 {
	return max(0, current+int64(rapid.SampledFrom([]int{0, 0, 0, -1, 1}).Draw(t, "stale by")))
}

func (w *entityWorld) put(t *rapid.T) {
	next := modelContents.Draw(t, "content")
	p := store.EntityPut{
		Entity: anEntity(w.key, modelContent(next)), At: w.at(), CreateOnly: rapid.IntRange(0, 5).Draw(t, "create only") == 0,
		RequestID: rapid.SampledFrom([]string{"", "", "r1", "r2"}).Draw(t, "request"), Digest: rapid.SampledFrom([]string{"d1", "d1", "d2"}).Draw(t, "digest"),
	}
	if rapid.Bool().Draw(t, "conditional") {
		p.Version = w.someVersion(t, w.m.version)
	}
	result, err := w.PutEntity(background, p)
	known, used := w.m.requests[p.RequestID]
	switch {
	case used && known.digest != p.Digest:
		require.ErrorIs(t, err, store.ErrRequestReused)
	case used:
		require.NoError(t, err)
		require.Equal(t, known.version, result.Entity.GetVersion())
		require.Equal(t, known.changed, result.Changed)
	case p.CreateOnly && w.m.stands:
		require.ErrorIs(t, err, store.ErrEntityExists)
	case p.Version != 0 && (!w.m.stands || p.Version != w.m.version):
		require.ErrorIs(t, err, store.ErrVersion)
	default:
		require.NoError(t, err)
		fields := w.m.fields(next)
		changed := w.m.change(next, "", "")
		require.Equal(t, changed, result.Changed)
		require.Equal(t, fields, slices.Clip(result.Fields))
		require.Equal(t, w.m.version, result.Entity.GetVersion())
		if p.RequestID != "" {
			w.m.requests[p.RequestID] = modelRequest{digest: p.Digest, version: w.m.version, changed: changed}
		}
	}
}

func (w *entityWorld) delete(t *rapid.T) {
	var version int64
	if rapid.Bool().Draw(t, "conditional") {
		version = w.someVersion(t, w.m.version)
	}
	_, err := w.DeleteEntity(background, w.key, version, w.at())
	switch {
	case !w.m.stands:
		require.ErrorIs(t, err, store.ErrNotFound)
	case version != 0 && version != w.m.version:
		require.ErrorIs(t, err, store.ErrVersion)
	default:
		require.NoError(t, err)
		w.m.remove("", "")
	}
}

func (w *entityWorld) update(t *rapid.T) {
	stage, text := rapid.SampledFrom(modelStages).Draw(t, "stage"), modelTexts.Draw(t, "state")
	had := w.m.states[stage]
	u := store.StateUpdate{Key: w.key, Stage: stage, State: modelPrivate(text), Version: w.someVersion(t, had.version), At: w.at()}
	result, err := w.UpdateStageState(background, u)
	if !w.m.stands {
		require.ErrorIs(t, err, store.ErrNotFound)
		return
	}
	require.NoError(t, err)
	require.Equal(t, u.Version == had.version, result.Updated)
	if result.Updated && w.m.replace(stage, text) {
		w.m.records = append(w.m.records, modelRecord{version: w.m.version, stage: stage, state: text})
	}
	require.Equal(t, w.m.states[stage], modelStateOf(t, result.Current))
	require.Equal(t, w.m.version, result.EntityVersion)
}

// visit is a visit of few, an attempt of two.
func (w *entityWorld) visit(t *rapid.T) store.VisitBegin {
	id := fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "visit"))
	stage := rapid.SampledFrom(modelStages).Draw(t, "stage")
	return store.VisitBegin{
		Key: w.key, Stage: stage, VisitID: id, Holder: stage + id + rapid.SampledFrom([]string{"", "'"}).Draw(t, "attempt"), At: w.at(), Until: secs(w.m.now + 3),
	}
}

func (w *entityWorld) begin(t *rapid.T) {
	v := w.visit(t)
	begun, err := w.BeginVisit(background, v)
	switch last := w.m.visits[v.Stage]; {
	case last.id == v.VisitID:
		require.NoError(t, err)
		requireVisit(t, last, begun.Committed)
		return
	case !w.m.stands:
		require.ErrorIs(t, err, store.ErrNotFound)
		return
	case w.m.holder != "" && w.m.holder != v.Holder && w.m.now < w.m.until:
		require.ErrorIs(t, err, store.ErrBusy)
		return
	}
	require.NoError(t, err)
	require.Nil(t, begun.Committed)
	until := w.m.now + 3
	if w.m.holder == v.Holder {
		until = max(until, w.m.until)
	}
	w.m.holder, w.m.until = v.Holder, until
	require.Equal(t, w.m.version, begun.Entity.GetVersion())
	requireProto(t, modelContent(w.m.content), begun.Entity.GetContent())
	require.Equal(t, w.m.states[v.Stage], modelStateOf(t, begun.State))
	w.open[v.Holder] = begun
}

func (w *entityWorld) keep(t *rapid.T) {
	holder := w.visit(t).Holder
	until := w.m.now + rapid.IntRange(0, 5).Draw(t, "seconds")
	err := w.KeepTurn(background, w.key, holder, secs(until))
	if w.m.holder != holder {
		require.ErrorIs(t, err, store.ErrTurnLost)
		return
	}
	require.NoError(t, err)
	w.m.until = max(w.m.until, until)
}

func (w *entityWorld) end(t *rapid.T) {
	holder := w.visit(t).Holder
	require.NoError(t, w.EndVisit(background, w.key, holder))
	if w.m.holder == holder {
		w.m.holder = ""
	}
}

func (w *entityWorld) commit(t *rapid.T) {
	v := w.visit(t)
	begun, ok := w.open[v.Holder]
	if !ok {
		t.Skip("it was never begun")
	}
	c := commitOf(v, begun)
	c.At, c.Result = w.at(), nil
	next, text := w.m.content, w.m.states[v.Stage].text
	if rapid.Bool().Draw(t, "with content") {
		next = modelContents.Draw(t, "content")
		c.Content = anEntity(w.key, modelContent(next))
	}
	if rapid.Bool().Draw(t, "with a state") {
		text = modelTexts.Draw(t, "state")
		c.State = modelPrivate(text)
	}
	c.Delete = rapid.IntRange(0, 9).Draw(t, "delete") == 0
	result, err := w.CommitVisit(background, c)
	switch last := w.m.visits[v.Stage]; {
	case last.id == v.VisitID:
		require.NoError(t, err)
		requireVisit(t, last, result)
		return
	case !w.m.stands:
		require.ErrorIs(t, err, store.ErrNotFound)
		return
	case w.m.holder != v.Holder:
		require.ErrorIs(t, err, store.ErrTurnLost)
		return
	case c.EntityVersion != w.m.version || c.StateVersion != w.m.states[v.Stage].version:
		require.ErrorIs(t, err, store.ErrVersion)
		return
	}
	require.NoError(t, err)
	w.m.holder = ""
	var changed bool
	if c.Delete {
		w.m.remove(v.Stage, v.VisitID)
		changed = true
	} else {
		stateChanged := w.m.replace(v.Stage, text)
		changed = w.m.change(next, v.Stage, v.VisitID)
		if stateChanged && !changed {
			w.m.records = append(w.m.records, modelRecord{version: w.m.version, stage: v.Stage, commitID: v.VisitID})
		}
		if stateChanged || changed {
			w.m.records[len(w.m.records)-1].state = text
		}
	}
	done := modelVisit{id: v.VisitID, version: w.m.version, changed: changed, gone: c.Delete}
	w.m.visits[v.Stage] = done
	requireVisit(t, done, result)
}

func requireVisit(t *rapid.T, want modelVisit, got *workflowv1.VisitResult) {
	require.Equal(t, want, modelVisit{id: want.id, version: got.GetVersion(), changed: got.GetChanged(), gone: got.GetGone()})
	require.Equal(t, want.changed && !want.gone, want.changed && !want.gone && len(got.GetFields()) > 0)
}

// same holds that what is seen is what the model says.
func (w *entityWorld) same(t *rapid.T) {
	e, err := w.GetEntity(background, w.key)
	if !w.m.stands {
		require.ErrorIs(t, err, store.ErrNotFound)
	} else {
		require.NoError(t, err)
		require.Equal(t, w.m.version, e.GetVersion())
		require.Equal(t, w.m.by, e.GetChangedByStage())
		requireProto(t, modelContent(w.m.content), e.GetContent())
		for _, stage := range modelStages {
			state := w.state(t, w.key, stage)
			require.Equal(t, w.m.states[stage], modelStateOf(t, state))
		}
	}
	all := w.records(t, w.key)
	require.Len(t, all, len(w.m.records))
	for i, r := range all {
		want := w.m.records[i]
		require.EqualValues(t, i+1, r.GetSequence())
		got := modelRecord{
			version: r.GetEntity().GetVersion(), stage: r.GetStage(), state: textOf(t, r.GetState()), changed: r.GetChanged(), deleted: r.GetDeleted(),
			commitID: want.commitID,
		}
		require.Equal(t, want, got)
		if want.commitID != "" {
			require.Equal(t, want.commitID, r.GetCommitId())
		}
		require.Equal(t, want.deleted, r.GetEntity().GetContent() == nil)
	}
}

var entityModelTests = []entityTest{
	// G-08, G-18, G-19, G-22, G-24: whatever is done in whatever order, what is seen is what
	// the documentation says.
	{"any sequence of calls does what the documentation says", func(t *testing.T, b *entityBundle) {
		var iteration int
		rapid.Check(t, func(t *rapid.T) {
			iteration++
			w := &entityWorld{
				entityBundle: b, m: newEntityModel(), key: store.EntityKey{Type: "model", ID: fmt.Sprint(iteration)}, open: map[string]store.VisitBegun{},
			}
			t.Repeat(map[string]func(*rapid.T){
				"put": w.put, "delete": w.delete, "update": w.update,
				"begin": w.begin, "begin too": w.begin, "keep": w.keep, "end": w.end, "commit": w.commit, "commit too": w.commit,
				"wait": func(t *rapid.T) { w.m.now += rapid.IntRange(1, 4).Draw(t, "seconds") },
				"":     w.same,
			})
			require.NoError(t, b.Published(background, w.key, int64(len(w.m.records))))
		})
	}},
	// G-34: the queues are what their last writes say.
	{"any sequence of writes leaves the queues that it should", func(t *testing.T, b *entityBundle) {
		var iteration int
		rapid.Check(t, func(t *rapid.T) {
			iteration++
			stage := func(n int) string { return fmt.Sprintf("%d-%d", iteration, n) }
			type write struct {
				revision uint64
				entries  []store.QueueEntry
			}
			stands := map[string]write{}
			t.Repeat(map[string]func(*rapid.T){
				"write": func(t *rapid.T) {
					key := store.EntityKey{Type: "model", ID: fmt.Sprintf("%d-%d", iteration, rapid.IntRange(1, 3).Draw(t, "entity"))}
					next := write{revision: rapid.Uint64Range(0, 8).Draw(t, "revision")}
					for n := range 3 {
						if second := rapid.IntRange(-2, 3).Draw(t, "enqueued"); second >= 0 {
							next.entries = append(next.entries, store.QueueEntry{
								Key: key, Stage: stage(n), EnqueueTime: secs(second).UTC(), Background: rapid.Bool().Draw(t, "background"),
							})
						}
					}
					require.NoError(t, b.PutQueue(background, store.QueueWrite{Key: key, Revision: at(next.revision), Entries: next.entries}))
					if had, ok := stands[key.ID]; !ok || next.revision > had.revision {
						stands[key.ID] = next
					}
				},
				"": func(t *rapid.T) {
					for n := range 3 {
						want := []store.QueueEntry{}
						for _, id := range slices.Sorted(maps.Keys(stands)) {
							for _, e := range stands[id].entries {
								if e.Stage == stage(n) {
									want = append(want, e)
								}
							}
						}
						slices.SortStableFunc(want, func(a, b store.QueueEntry) int { return a.EnqueueTime.Compare(b.EnqueueTime) })
						got, err := b.PeekQueue(background, store.QueueQuery{Stage: stage(n), Limit: 100})
						require.NoError(t, err)
						require.Equal(t, want, append([]store.QueueEntry{}, got...))
					}
				},
			})
		})
	}},
}
