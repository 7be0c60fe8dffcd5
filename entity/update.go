package entity

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/rule"
)

// Update is what a stage's answer makes of an entity.
type Update struct {
	// Content is the new content, nil if it stays.
	Content *structpb.Struct
	// Delete deletes the entity.
	Delete bool
	// State is the new state, nil if it stays.
	State *gnomonv1.StageState
}

// UpdateOf works out what a stage's answer makes of an entity with this content (G-16),
// or says what is wrong with the answer, without quoting it. It changes neither.
func UpdateOf(content *structpb.Struct, r *gnomonv1.ProcessResponse) (Update, error) {
	u := Update{}
	switch update := r.GetEntityUpdate().(type) {
	case *gnomonv1.ProcessResponse_Content:
		u.Content = update.Content
		if u.Content == nil {
			u.Content = &structpb.Struct{}
		}
	case *gnomonv1.ProcessResponse_MergePatch:
		u.Content = merge(content, update.MergePatch)
	case *gnomonv1.ProcessResponse_Delete:
		u.Delete = true
	}
	if u.Content != nil {
		if err := cmp.Or(broken(ValidateContent("content", u.Content)), checkText(u.Content)); err != nil {
			return Update{}, err
		}
	}
	if r.GetState() != nil {
		u.State = &gnomonv1.StageState{State: r.GetState()}
		// An empty Any is a state too, other than none.
		if err := broken(ValidateState("state", r.GetState())); err != nil && proto.Size(r.GetState()) > 0 {
			return Update{}, err
		}
	}
	if r.GetTimer() != nil {
		if r.GetTimer().CheckValid() != nil {
			return Update{}, errors.New("the timer is not a valid time")
		}
		if r.GetKeepTimer() {
			return Update{}, errors.New("it sets the timer and keeps it")
		}
	}
	return u, nil
}

// merge applies a JSON merge patch (RFC 7396) to an object: null removes a field, objects
// are merged, all else replaces.
func merge(target, patch *structpb.Struct) *structpb.Struct {
	merged := maps.Clone(target.GetFields())
	if merged == nil {
		merged = map[string]*structpb.Value{}
	}
	for name, value := range patch.GetFields() {
		switch kind := value.GetKind().(type) {
		case *structpb.Value_NullValue:
			delete(merged, name)
		case *structpb.Value_StructValue:
			merged[name] = structpb.NewStructValue(merge(merged[name].GetStructValue(), kind.StructValue))
		default:
			merged[name] = value
		}
	}
	return &structpb.Struct{Fields: merged}
}

// checkText says whether strings made by Go code could be stored: any other way they come
// as UTF-8.
func checkText(object *structpb.Struct) error {
	for name, value := range object.GetFields() {
		if !utf8.ValidString(name) {
			return errNotText
		}
		if err := checkTextOf(value); err != nil {
			return err
		}
	}
	return nil
}

var errNotText = errors.New("the content has a string that is not UTF-8")

func checkTextOf(value *structpb.Value) error {
	switch kind := value.GetKind().(type) {
	case *structpb.Value_StringValue:
		if !utf8.ValidString(kind.StringValue) {
			return errNotText
		}
	case *structpb.Value_StructValue:
		return checkText(kind.StructValue)
	case *structpb.Value_ListValue:
		for _, one := range kind.ListValue.GetValues() {
			if err := checkTextOf(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// broken is the first of violations as an error.
func broken(v []rule.Violation) error {
	if len(v) == 0 {
		return nil
	}
	return fmt.Errorf("the stage's %s %s", v[0].Field, v[0].Description)
}
