package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// RunEntities runs the suite of entities. open gives an empty store each time; the suite
// closes it. The tests run in parallel.
//
// It holds G-04, G-07, G-08, G-11, G-12, G-13, G-18, G-19, G-22, G-24, G-25 and G-33 to
// G-36.
func RunEntities(t *testing.T, open func(t *testing.T, o Options) store.Store) {
	t.Helper()
	for _, group := range []struct {
		name  string
		tests []entityTest
	}{
		{"put", entityPutTests},
		{"delete", entityDeleteTests},
		{"list of entities", entityListTests},
		{"state", entityStateTests},
		{"turns", entityTurnTests},
		{"commit", entityCommitTests},
		{"outbox", entityOutboxTests},
		{"queue", entityQueueTests},
		{"slots", entitySlotTests},
		{"rewalk", entityRewalkTests},
		{"entities together", entityTogetherTests},
		{"model of entities", entityModelTests},
		{"lifecycle of entities", entityLifecycleTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, tt := range group.tests {
				t.Run(tt.name, func(t *testing.T) {
					t.Parallel()
					c := &clock{now: epoch}
					s := open(t, Options{Now: c.Now, TombstoneTTL: ttl})
					require.NotNil(t, s)
					t.Cleanup(func() { require.NoError(t, s.Close()) })
					tt.run(t, &entityBundle{Store: s})
				})
			}
		})
	}
}

// entityTest is one test of the suite.
type entityTest struct {
	name string
	run  func(t *testing.T, b *entityBundle)
}

// entityBundle is an empty store.
type entityBundle struct{ store.Store }

// offer is the entity that most tests are about.
var offer = store.EntityKey{Type: "offer", ID: "a_1"}

// content is an object of fields and values.
func content(fields ...any) *structpb.Struct {
	s := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for i := 0; i < len(fields); i += 2 {
		v, err := structpb.NewValue(fields[i+1])
		if err != nil {
			panic(err)
		}
		s.Fields[fmt.Sprint(fields[i])] = v
	}
	return s
}

// anEntity is one to be put.
func anEntity(key store.EntityKey, c *structpb.Struct) *gnomonv1.Entity {
	return &gnomonv1.Entity{Type: key.Type, Id: key.ID, Content: c}
}

// secs is a moment of the test.
func secs(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }

// put makes a version of an entity.
func (b *entityBundle) put(t require.TestingT, key store.EntityKey, c *structpb.Struct) store.EntityResult {
	result, err := b.PutEntity(background, store.EntityPut{Entity: anEntity(key, c), At: secs(1)})
	require.NoError(t, err)
	return result
}

// entity reads an entity that stands.
func (b *entityBundle) entity(t require.TestingT, key store.EntityKey) *gnomonv1.Entity {
	e, err := b.GetEntity(background, key)
	require.NoError(t, err)
	return e
}

// number is that in the content of an entity that stands.
func (b *entityBundle) number(t require.TestingT, key store.EntityKey) int {
	return numberOf(b.entity(t, key))
}

// numberOf is the field n.
func numberOf(e *gnomonv1.Entity) int { return int(e.GetContent().GetFields()["n"].GetNumberValue()) }

// private is a state of a stage.
func private(text string) *gnomonv1.StageState {
	a, err := anypb.New(structpb.NewStringValue(text))
	if err != nil {
		panic(err)
	}
	return &gnomonv1.StageState{State: a}
}

// textOf is what private has put in.
func textOf(t require.TestingT, s *gnomonv1.StageState) string {
	if s.GetState() == nil {
		return ""
	}
	v := &structpb.Value{}
	require.NoError(t, s.GetState().UnmarshalTo(v))
	return v.GetStringValue()
}

// set replaces a state of a version.
func (b *entityBundle) set(t require.TestingT, key store.EntityKey, stage, text string, version int64) store.StateResult {
	result, err := b.UpdateStageState(background, store.StateUpdate{Key: key, Stage: stage, State: private(text), Version: version, At: secs(2)})
	require.NoError(t, err)
	return result
}

// state reads a stage's state.
func (b *entityBundle) state(t require.TestingT, key store.EntityKey, stage string) *gnomonv1.StageState {
	s, err := b.GetStageState(background, key, stage)
	require.NoError(t, err)
	return s
}

// visit is one of a stage, whose turn lasts from second 10 to 20.
func visit(key store.EntityKey, stage, id string) store.VisitBegin {
	return store.VisitBegin{Key: key, Stage: stage, VisitID: id, Holder: id + "/1", At: secs(10), Until: secs(20)}
}

// begin begins a visit.
func (b *entityBundle) begin(t require.TestingT, v store.VisitBegin) store.VisitBegun {
	begun, err := b.BeginVisit(background, v)
	require.NoError(t, err)
	require.Nil(t, begun.Committed)
	return begun
}

// commitOf is the commit of a visit that changes nothing.
func commitOf(v store.VisitBegin, begun store.VisitBegun) store.VisitCommit {
	return store.VisitCommit{
		Key: v.Key, Stage: v.Stage, VisitID: v.VisitID, Holder: v.Holder,
		EntityVersion: begun.Entity.GetVersion(), StateVersion: begun.State.GetVersion(),
		Result: &workflowv1.VisitResult{Timer: timestamppb.New(secs(99))}, At: secs(11),
	}
}

// commit commits.
func (b *entityBundle) commit(t require.TestingT, c store.VisitCommit) *workflowv1.VisitResult {
	result, err := b.CommitVisit(background, c)
	require.NoError(t, err)
	return result
}

// records are all of an entity that are not published.
func (b *entityBundle) records(t require.TestingT, key store.EntityKey) []*gnomonv1.SavedRecord {
	all, err := b.Unpublished(background, key, 10_000)
	require.NoError(t, err)
	return all
}
