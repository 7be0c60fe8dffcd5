package batch

import (
	"math"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/rule"
)

func (v *violations) httpChange(field string, c *gnomonv1.HttpChange) {
	if c.GetValidateUrl() != "" {
		v.shared().URL(field+".validate_url", c.GetValidateUrl())
	}
	v.shared().URL(field+".apply_url", c.GetApplyUrl())
	v.body(field+".body", c.GetBody())
	v.shared().Headers(field+".headers", c.GetHeaders())
	v.shared().Duration(field+".timeout", c.GetTimeout(), 0, MaxHTTPTimeout)
}

// body must be what JSON can say: gRPC carries infinite numbers and values of no kind.
func (v *violations) body(field string, b *structpb.Value) {
	if b == nil {
		return
	}
	if size := proto.Size(b); size > MaxBodySize {
		v.add(field, rule.TooLong, "body is %d bytes encoded, at most %d are allowed", size, MaxBodySize)
		return
	}
	switch judge(b, MaxBodyDepth) {
	case fits:
	case tooDeep:
		v.add(field, rule.OutOfRange, "body must be nested at most %d deep", MaxBodyDepth)
	case notJSON:
		v.add(field, rule.Unsupported, "body must be JSON: it holds a number that is not finite or a value that is not set")
	}
}

type bodyFit int

const (
	fits bodyFit = iota
	tooDeep
	notJSON
)

// judge looks at a value and all in it. The order of a map makes no difference but for
// which of two faults is named.
//
//workflowcheck:ignore
func judge(b *structpb.Value, depth int) bodyFit {
	if depth == 0 {
		return tooDeep
	}
	switch kind := b.GetKind().(type) {
	case nil:
		return notJSON
	case *structpb.Value_NumberValue:
		if math.IsNaN(kind.NumberValue) || math.IsInf(kind.NumberValue, 0) {
			return notJSON
		}
	case *structpb.Value_ListValue:
		for _, one := range kind.ListValue.GetValues() {
			if fit := judge(one, depth-1); fit != fits {
				return fit
			}
		}
	case *structpb.Value_StructValue:
		for _, one := range kind.StructValue.GetFields() {
			if fit := judge(one, depth-1); fit != fits {
				return fit
			}
		}
	}
	return fits
}
