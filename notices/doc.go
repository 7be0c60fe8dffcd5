// Package notices tells people about batches (seed 003, V-17): a ScheduledChangeFailed
// when one needs a person's review, and outcomes for those who asked for them. Channels
// carry notices out of the house; which there are and who wants what is configuration.
package notices
