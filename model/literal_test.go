package model_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/model"
)

var outcomeNames = [...]string{"Running", "Success", "Failure", "Permanent", "Panicked", "Stopped", "Lost"}

// GoString is the life as regressions_test.go would have it. It is the same whenever
// the life is, which rapid needs to make it smaller.
func (l Life) GoString() string { return literal(reflect.ValueOf(l)) }

// literal is a value in Go, without what is zero.
func literal(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case time.Duration:
		return inUnits(value)
	case model.Outcome:
		return "model." + outcomeNames[value]
	}
	switch v.Kind() {
	case reflect.Pointer:
		return "&" + literal(v.Elem())
	case reflect.Struct:
		var fields []string
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() && (f.Kind() != reflect.Slice || f.Len() > 0) {
				fields = append(fields, v.Type().Field(i).Name+": "+literal(f))
			}
		}
		return v.Type().Name() + "{" + strings.Join(fields, ", ") + "}"
	case reflect.Slice:
		var elements []string
		for i := range v.Len() {
			// The element's type need not be repeated.
			elements = append(elements, "\n\t"+strings.TrimPrefix(literal(v.Index(i)), v.Type().Elem().Name())+",")
		}
		return "[]" + v.Type().Elem().Name() + "{" + strings.Join(elements, "") + "\n}"
	case reflect.Uint32:
		return fmt.Sprint(v.Uint())
	default:
		return fmt.Sprintf("%#v", v.Interface())
	}
}

func inUnits(d time.Duration) string {
	for _, u := range []struct {
		length time.Duration
		name   string
	}{{time.Minute, "time.Minute"}, {time.Second, "time.Second"}, {time.Millisecond, "time.Millisecond"}, {time.Microsecond, "time.Microsecond"}} {
		if d%u.length == 0 {
			return fmt.Sprintf("%d * %s", d/u.length, u.name)
		}
	}
	return fmt.Sprint(int64(d))
}

func TestLiteral(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Life{First: Wish{Start: 90 * time.Microsecond}}", fmt.Sprintf("%#v", Life{First: Wish{Start: 90 * time.Microsecond}, Steps: []Step{}}))
	l := Life{
		First:   Wish{Start: 2500 * time.Millisecond, Deadline: 1, Retry: &Retry{Max: 3, BackOff: 0.5}},
		Steps:   []Step{{AtWake: true, Do: "update", Wish: Wish{Start: -10 * time.Minute}}, {Do: "pause"}},
		Endings: []Ending{{How: model.Lost, Noticed: time.Second}, {How: model.Success}},
	}
	require.Equal(t, `Life{First: Wish{Start: 2500 * time.Millisecond, Deadline: 1, Retry: &Retry{Max: 3, BackOff: 0.5}}, Steps: []Step{
	{AtWake: true, Do: "update", Wish: Wish{Start: -10 * time.Minute}},
	{Do: "pause"},
}, Endings: []Ending{
	{How: model.Lost, Noticed: 1 * time.Second},
	{How: model.Success},
}}`, fmt.Sprintf("%#v", l))
}
