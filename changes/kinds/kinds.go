// Package kinds puts together the kinds of changes that an installation has.
package kinds

import "gnomon/changes"

// Config is an installation's choice of kinds. The zero value has all that need nothing.
type Config struct{}

// New registers every kind: this is the one place that names them all.
func New(Config) (changes.Set, error) {
	return changes.NewSet()
}
