package replay

import enumspb "go.temporal.io/api/enums/v1"

// Entity begins the names of the recordings of entities.
const Entity = "entity"

// Quiet is how a run of an entity ends to which nothing is left to do.
const Quiet = "quiet"

const calledBack = enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED

// EntityStates are those of entities that every version of their rules has a recording
// of.
func EntityStates() []State {
	return []State{
		{"entity-nobody-wants", Quiet, events(signalled, completed)},
		{"entity-fan-out", Quiet, events(signalled, completed)},
		{"entity-changed-meanwhile", Quiet, events(signalled, completed)},
		{"entity-timer", Open, events(sleeps, completed)},
		{"entity-timer-replaced", Open, events(sleeps, signalled)},
		{"entity-timer-fired", Quiet, events(sleeps, wakes)},
		{"entity-timer-of-walk", Open, events(sleeps, signalled)},
		{"entity-visiting", Open, events(scheduled)},
		{"entity-slow-stage", Open, events(sleeps, wakes, scheduled)},
		{"entity-failing", Open, events(sleeps, completed)},
		{"entity-cascade", Quiet, events(sleeps, wakes, completed)},
		{"entity-upgraded-at-work", Quiet, events(cancelled, completed)},
		{"entity-called-back", Quiet, events(cancelled, calledBack, completed)},
		{"entity-publisher-down", Open, events(scheduled)},
		{"entity-deleted", Quiet, events(signalled, completed)},
		{"entity-malformed-signal", Quiet, events(signalled, completed)},
		{"entity-continued", Continued, events(signalled, cancelled, calledBack)},
		{"entity-continued-next", Quiet, events(scheduled, completed)},
	}
}
