// Package entity holds the rules of seed 004: which stages want to visit an entity,
// which of them may be sent to it now, when somebody has to be asked, and when timers
// fire. Pure: it is told the time, does no I/O and knows nothing of Temporal.
//
// The state belongs to one entity. What happens to it are events: [Changed] by
// somebody outside, [Request] of a visit, [Answered] questions, [Visited] by a stage.
// After each of them [Next] says what to do. The invariant that all this serves: every
// stage has been asked about, or has visited, the last version of the entity, or is
// pending, or is about to be asked.
//
// Only one stage works on an entity at a time, but its turn begins when it executes
// and not when it is enqueued (G-25, G-26): visits that wait too long in their stages'
// queues are joined by those of other stages, and who executes first takes the turn,
// which the store guards.
package entity
