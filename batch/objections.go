package batch

import (
	"strconv"
	"strings"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/rule"
)

// Problems are violations that Validate found as problems of the batch: hard ones, each
// with the index of the change that is to blame and the path of the field within it, or
// within the batch where no change is.
func Problems(bad []rule.Violation) []*gnomonv1.Problem {
	all := make([]*gnomonv1.Problem, len(bad))
	for i, v := range bad {
		p := &gnomonv1.Problem{Severity: gnomonv1.Problem_HARD, Code: v.Rule, Message: v.Description, Field: v.Field}
		if index, field, ok := splitPath(v.Field); ok {
			at := int32(index)
			p.ChangeIndex, p.Field = &at, field
		}
		all[i] = p
	}
	return all
}

// Sound are the indices of the changes that none of the violations of the batch is about,
// in their order: what is left to be judged against the world. More changes than a batch
// may have were not looked at, and none of them is sound.
func Sound(b *gnomonv1.Batch, bad []rule.Violation) []int {
	if len(b.GetChanges()) > MaxChanges {
		return nil
	}
	broken := map[int]bool{}
	for _, v := range bad {
		if index, _, ok := splitPath(v.Field); ok {
			broken[index] = true
		}
	}
	var sound []int
	for i := range b.GetChanges() {
		if !broken[i] {
			sound = append(sound, i)
		}
	}
	return sound
}

// splitPath takes apart what begins with a ChangePath.
func splitPath(path string) (index int, field string, ok bool) {
	rest, ok := strings.CutPrefix(path, "changes[")
	if !ok {
		return 0, "", false
	}
	number, rest, ok := strings.Cut(rest, "]")
	if !ok {
		return 0, "", false
	}
	index, err := strconv.Atoi(number)
	return index, strings.TrimPrefix(rest, "."), err == nil
}
