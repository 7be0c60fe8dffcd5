package reconcile

// Kind is what is wrong with a row, or why nothing can be said of it.
type Kind string

// Kinds of findings. The first four are repaired, the others left alone.
const (
	// Right: nothing is wrong.
	Right Kind = ""
	// Missing: the workflow is open and there is no row.
	Missing Kind = "missing"
	// Stale: the workflow is open and its row shows something else.
	Stale Kind = "stale"
	// Resurrected: the row is alive and its workflow is closed.
	Resurrected Kind = "resurrected"
	// Orphaned: the row is alive and Temporal knows no workflow.
	Orphaned Kind = "orphaned"

	// Young: something differs that changed within the grace.
	Young Kind = "young"
	// Moving: the second look saw something else than the first.
	Moving Kind = "moving"
	// Unanswered: no worker answers for the open workflow, or the closed one cannot be
	// read.
	Unanswered Kind = "unanswered"
	// Foreign: the workflow is on another task queue or no action.
	Foreign Kind = "foreign"
)

// Wrong are the kinds that are repaired, in the order in which they are shown.
func Wrong() []Kind { return []Kind{Missing, Stale, Resurrected, Orphaned} }

// Finding is what a look at one action came to.
type Finding struct {
	Kind Kind
	// Why says for people what differs. Empty for Right.
	Why string
}

// Wrong says whether a repair is called for.
func (f Finding) Wrong() bool {
	switch f.Kind {
	case Missing, Stale, Resurrected, Orphaned:
		return true
	default:
		return false
	}
}
