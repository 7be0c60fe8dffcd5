// Package queue is an agent's own queue of actions, one SQLite file on its node. What
// it says it has stored survives a crash of the process and of the machine.
//
// It holds the seed's only promise of order: [Queue.Claim] makes the oldest
// action RUNNING, and gives none out while one is. Which actions changed can be read
// from a number on, so that the core sees every change once and nothing is polled
// twice; an agent that lost its file is known by another incarnation.
package queue
