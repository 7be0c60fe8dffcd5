package metrics

import (
	"cmp"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
)

// noKind is the label of an action whose kind is not known here.
const noKind = "unknown"

// kindOf is the label of an action.
func kindOf(a *gnomonv1.Action) string { return cmp.Or(action.Kind(a), noKind) }

// kinds are all labels that kindOf gives: the cases of the oneof in gnomon.v1.Action.
func kinds() []string {
	all := []string{noKind}
	fields := (&gnomonv1.Action{}).ProtoReflect().Descriptor().Oneofs().ByName("action").Fields()
	for i := range fields.Len() {
		all = append(all, string(fields.Get(i).Name()))
	}
	return all
}
