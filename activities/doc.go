// Package activities is what touches the world for the workflows: Perform makes the
// attempts of an occurrence, Mirror stores rows. Performers, one for each kind of
// action, live in the package performers below it.
package activities
