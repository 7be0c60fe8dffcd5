package cli

import "fmt"

// outcomeError is something that was followed and did not end well: exit code 3.
type outcomeError struct {
	noun, id, state string
	// advice is what can be done about it, if anything.
	advice string
}

// Error names the state, and what can be done about it.
func (e outcomeError) Error() string {
	return joinNonEmpty("; ", fmt.Sprintf("%s %s is %s", e.noun, e.id, e.state), e.advice)
}
