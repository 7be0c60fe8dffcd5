package entity

import (
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	"gnomon/rule"
)

// Limits of entities and states. They are part of the public contract.
const (
	// MaxNameLength is of types of entities and names of stages, in bytes.
	MaxNameLength = 63
	// MaxContent is what an entity's content takes at most, as protobuf, in bytes.
	MaxContent = 256 << 10
	// MaxDepth is how deep objects and lists of a content may be nested.
	MaxDepth = 64
	// MaxState is what a stage's state takes at most, as protobuf, in bytes.
	MaxState = 64 << 10
	// maxTypeURL is of the type of a state, in bytes.
	maxTypeURL = 512
)

// ruleTooNested is broken by objects within objects beyond MaxDepth.
const ruleTooNested = "TOO_NESTED"

// ValidateName checks a type of entities or the name of a stage: 1 to 63 lower-case
// letters, digits and '-', beginning with a letter.
func ValidateName(field, name string) []rule.Violation {
	var v rule.Violations
	switch {
	case name == "":
		v.Add(field, rule.Required, "must be set")
	case len(name) > MaxNameLength:
		v.Add(field, rule.TooLong, "is %d bytes long, at most %d are allowed", len(name), MaxNameLength)
	case !isLower(rune(name[0])) || strings.ContainsFunc(name, func(r rune) bool { return !isLower(r) && (r < '0' || r > '9') && r != '-' }):
		v.Add(field, rule.InvalidCharacter, "must begin with a lower-case ASCII letter and may have these, digits and '-' only")
	}
	return v
}

func isLower(r rune) bool { return 'a' <= r && r <= 'z' }

// ValidateKey checks the type and the id of an entity, each under its field.
func ValidateKey(typeField, entityType, idField, id string) []rule.Violation {
	v := rule.Violations(ValidateName(typeField, entityType))
	v.ID(idField, id)
	return v
}

// ValidateContent checks a content: any JSON object within MaxContent and MaxDepth.
func ValidateContent(field string, content *structpb.Struct) []rule.Violation {
	var v rule.Violations
	if content == nil {
		v.Add(field, rule.Required, "must be set; it may be an empty object")
		return v
	}
	if size := proto.Size(content); size > MaxContent {
		v.Add(field, rule.TooLong, "takes %d bytes, at most %d are allowed", size, MaxContent)
		return v
	}
	validateFields(&v, field, content, 1)
	return v
}

func validateFields(v *rule.Violations, field string, object *structpb.Struct, depth int) {
	if depth > MaxDepth {
		v.Add(field, ruleTooNested, "is nested deeper than %d", MaxDepth)
		return
	}
	names := make([]string, 0, len(object.GetFields()))
	for name := range object.GetFields() {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		// A name may be anything, so that paths name the first level only.
		validateValue(v, field, object.GetFields()[name], depth)
		if len(*v) > 0 {
			return
		}
	}
}

// validateValue checks one value: what a client made by hand may be no JSON.
func validateValue(v *rule.Violations, field string, value *structpb.Value, depth int) {
	switch kind := value.GetKind().(type) {
	case *structpb.Value_NumberValue:
		if math.IsNaN(kind.NumberValue) || math.IsInf(kind.NumberValue, 0) {
			v.Add(field, rule.NotFinite, "has a number that is not finite")
		}
	case *structpb.Value_StructValue:
		validateFields(v, field, kind.StructValue, depth+1)
	case *structpb.Value_ListValue:
		if depth >= MaxDepth && len(kind.ListValue.GetValues()) > 0 {
			v.Add(field, ruleTooNested, "is nested deeper than %d", MaxDepth)
			return
		}
		for _, one := range kind.ListValue.GetValues() {
			validateValue(v, field, one, depth+1)
			if len(*v) > 0 {
				return
			}
		}
	case nil:
		v.Add(field, rule.Required, "has a value that is nothing, not even null")
	}
}

// ValidateState checks a stage's state: a message with its type, within MaxState. None is
// fine.
func ValidateState(field string, state *anypb.Any) []rule.Violation {
	var v rule.Violations
	if state == nil {
		return nil
	}
	if size := proto.Size(state); size > MaxState {
		v.Add(field, rule.TooLong, "takes %d bytes, at most %d are allowed", size, MaxState)
		return v
	}
	url := state.GetTypeUrl()
	switch {
	case url == "" || strings.HasSuffix(url, "/"):
		v.Add(field+".type_url", rule.Required, "must name the type of the message, such as type.googleapis.com/google.protobuf.Struct")
	case len(url) > maxTypeURL:
		v.Add(field+".type_url", rule.TooLong, "is %d bytes long, at most %d are allowed", len(url), maxTypeURL)
	case !strings.Contains(url, "/") || strings.ContainsFunc(url, func(r rune) bool { return r <= ' ' || r > '~' }):
		v.Add(field+".type_url", rule.InvalidCharacter, "must be a '/' and the full name of the message behind a host, such as type.googleapis.com/google.protobuf.Struct")
	}
	return v
}
