package reconcile

// Phase is a part of a round.
type Phase string

// Phases of a round, in their order.
const (
	PhaseWorkflows Phase = "workflows" // open workflows that have no living row
	PhaseRows      Phase = "rows"      // living rows
	PhaseOrphans   Phase = "orphans"   // rows without any workflow
	PhaseDone      Phase = "done"
)

// Cursor is how far a round has come. A round goes on from it, in this process or
// another. The zero Cursor is the beginning.
type Cursor struct {
	Phase Phase `json:"phase,omitempty"`
	// Token is the next page of open workflows.
	Token []byte `json:"token,omitempty"`
	// After is the id of the last row that was looked at.
	After string `json:"after,omitempty"`
	// Orphans are rows without any workflow, which wait for the end of the round: the
	// first of OrphanCount.
	Orphans     []string `json:"orphans,omitempty"`
	OrphanCount int64    `json:"orphanCount,omitempty"`
	// Report is what the round has come to so far.
	Report Report `json:"report"`
}
