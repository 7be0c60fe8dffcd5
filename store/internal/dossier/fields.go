package dossier

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// differing are the top-level fields that were added, removed or have another value,
// sorted. Values are compared as JSON has them, at any depth.
func differing(before, after *structpb.Struct) []string {
	fields := map[string]bool{}
	for name, value := range after.GetFields() {
		had, ok := before.GetFields()[name]
		if !ok || !proto.Equal(had, value) {
			fields[name] = true
		}
	}
	for name := range before.GetFields() {
		if _, ok := after.GetFields()[name]; !ok {
			fields[name] = true
		}
	}
	return slices.Sorted(maps.Keys(fields))
}
