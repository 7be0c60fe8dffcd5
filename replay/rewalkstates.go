package replay

// Rewalk begins the names of the recordings of walks.
const Rewalk = "rewalk"

// RewalkStates are those of walks that every version of the rules of entities has a
// recording of.
func RewalkStates() []State {
	return []State{
		{"rewalk-running", Open, events(completed, scheduled)},
		{"rewalk-waiting-for-stage", Open, events(completed, scheduled)},
		{"rewalk-store-down", Open, events(completed, scheduled)},
		{"rewalk-done", "DONE", events(completed)},
		{"rewalk-unconditional", "DONE", events(completed)},
		{"rewalk-worker-lost", "DONE", events(completed)},
		{"rewalk-cancelled", "CANCELLED", events(signalled, cancelled, completed)},
		{"rewalk-cancelled-by-temporal", "CANCELLED", events(cancelAsked, cancelled, completed)},
		{"rewalk-cancelled-before-a-page", "CANCELLED", events(signalled)},
		{"rewalk-continued", Continued, events(signalled, completed)},
		{"rewalk-continued-next", "DONE", events(completed)},
	}
}
