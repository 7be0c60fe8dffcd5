package notices

import (
	"fmt"
	"slices"
)

// Set has the subscriptions of an installation.
type Set []Subscription

// NewSet checks that names of channels are unique and that events are known.
func NewSet(all ...Subscription) (Set, error) {
	known := []string{ScheduledChangeFailed, BatchComplete, BatchPartialFailure, BatchFailed, BatchCancelled}
	var names []string
	for _, s := range all {
		if slices.Contains(names, s.Channel.Name()) {
			return nil, fmt.Errorf("notices: two channels have the name %q", s.Channel.Name())
		}
		names = append(names, s.Channel.Name())
		for _, event := range s.Events {
			if !slices.Contains(known, event) {
				return nil, fmt.Errorf("notices: channel %q wants the event %q, which is none of %q", s.Channel.Name(), event, known)
			}
		}
	}
	return all, nil
}

// For are the channels that want an event.
func (s Set) For(event string) []Channel {
	var wanted []Channel
	for _, one := range s {
		if event == ScheduledChangeFailed || slices.Contains(one.Events, event) {
			wanted = append(wanted, one.Channel)
		}
	}
	return wanted
}
