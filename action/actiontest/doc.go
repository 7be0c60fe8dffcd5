// Package actiontest has the actions that the tests of several packages begin with:
// the rules, the workflow and the activities. They perform nothing and are due first
// at [Start].
package actiontest
