// Package spawn starts child processes that end with this one, however this one ends.
package spawn
