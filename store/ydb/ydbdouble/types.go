package ydbdouble

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
)

// primitives are the types that columns and parameters may have, by their names.
var primitives = map[string]Ydb.Type_PrimitiveTypeId{
	"Bool": Ydb.Type_BOOL, "Int32": Ydb.Type_INT32, "Int64": Ydb.Type_INT64, "Uint32": Ydb.Type_UINT32, "Uint64": Ydb.Type_UINT64,
	"String": Ydb.Type_STRING, "Utf8": Ydb.Type_UTF8, "Timestamp": Ydb.Type_TIMESTAMP,
}

// nameOf is the name of a primitive type, or empty for one that is not here.
func nameOf(id Ydb.Type_PrimitiveTypeId) string {
	for name, have := range primitives {
		if have == id {
			return name
		}
	}
	return ""
}

// parseType reads a type and gives it in one spelling, with what is left.
func parseType(tokens []token) (string, []token, error) {
	if len(tokens) == 0 || tokens[0].kind != word {
		return "", nil, fmt.Errorf("a type is missing")
	}
	name, rest := tokens[0].text, tokens[1:]
	var spelt string
	switch name {
	case "List", "Optional":
		inner, after, err := parseBracketed(rest, parseType)
		if err != nil {
			return "", nil, err
		}
		spelt, rest = name+"<"+inner+">", after
	case "Struct":
		inner, after, err := parseBracketed(rest, parseFields)
		if err != nil {
			return "", nil, err
		}
		spelt, rest = "Struct<"+inner+">", after
	default:
		if _, ok := primitives[name]; !ok {
			return "", nil, fmt.Errorf("the type %s, which is not here", name)
		}
		spelt = name
	}
	if len(rest) > 0 && rest[0].is("?") {
		return "Optional<" + spelt + ">", rest[1:], nil
	}
	return spelt, rest, nil
}

// parseBracketed reads what stands between angle brackets.
func parseBracketed(tokens []token, inner func([]token) (string, []token, error)) (string, []token, error) {
	if len(tokens) == 0 || !tokens[0].is("<") {
		return "", nil, fmt.Errorf("a < is missing")
	}
	spelt, rest, err := inner(tokens[1:])
	if err != nil {
		return "", nil, err
	}
	if len(rest) == 0 || !rest[0].is(">") {
		return "", nil, fmt.Errorf("a > is missing")
	}
	return spelt, rest[1:], nil
}

// parseFields reads a struct's fields, whose order is no part of its type.
func parseFields(tokens []token) (string, []token, error) {
	var fields []string
	for {
		if len(tokens) < 2 || !tokens[1].is(":") {
			return "", nil, fmt.Errorf("a field is missing")
		}
		spelt, rest, err := parseType(tokens[2:])
		if err != nil {
			return "", nil, err
		}
		fields = append(fields, tokens[0].text+":"+spelt)
		if len(rest) == 0 || !rest[0].is(",") {
			slices.Sort(fields)
			return strings.Join(fields, ","), rest, nil
		}
		tokens = rest[1:]
	}
}

// spell gives a type that came over the wire in the spelling of parseType.
func spell(t *Ydb.Type) string {
	switch t := t.GetType().(type) {
	case *Ydb.Type_TypeId:
		return nameOf(t.TypeId)
	case *Ydb.Type_OptionalType:
		return "Optional<" + spell(t.OptionalType.GetItem()) + ">"
	case *Ydb.Type_ListType:
		return "List<" + spell(t.ListType.GetItem()) + ">"
	case *Ydb.Type_StructType:
		var fields []string
		for _, m := range t.StructType.GetMembers() {
			fields = append(fields, m.GetName()+":"+spell(m.GetType()))
		}
		slices.Sort(fields)
		return "Struct<" + strings.Join(fields, ",") + ">"
	default:
		return "unknown"
	}
}

// sqliteValue is a value as SQLite has it: unsigned numbers by their bits, times in
// microseconds. It refuses what YDB refuses: NULL where the type has none, another
// type's value, text that is not UTF-8.
func sqliteValue(t *Ydb.Type, v *Ydb.Value) (any, error) {
	if optional := t.GetOptionalType(); optional != nil {
		if _, null := v.GetValue().(*Ydb.Value_NullFlagValue); null {
			return nil, nil //nolint:nilnil // database/sql's NULL
		}
		return sqliteValue(optional.GetItem(), v)
	}
	switch v := v.GetValue().(type) {
	case *Ydb.Value_BoolValue:
		return v.BoolValue, mustBe(t, Ydb.Type_BOOL)
	case *Ydb.Value_Int32Value:
		return int64(v.Int32Value), mustBe(t, Ydb.Type_INT32)
	case *Ydb.Value_Uint32Value:
		return int64(v.Uint32Value), mustBe(t, Ydb.Type_UINT32)
	case *Ydb.Value_Int64Value:
		return v.Int64Value, mustBe(t, Ydb.Type_INT64)
	case *Ydb.Value_Uint64Value:
		return int64(v.Uint64Value), mustBe(t, Ydb.Type_UINT64, Ydb.Type_TIMESTAMP)
	case *Ydb.Value_BytesValue:
		return append([]byte{}, v.BytesValue...), mustBe(t, Ydb.Type_STRING)
	case *Ydb.Value_TextValue:
		if !utf8.ValidString(v.TextValue) {
			return nil, fmt.Errorf("a text that is not UTF-8")
		}
		return v.TextValue, mustBe(t, Ydb.Type_UTF8)
	default:
		return nil, fmt.Errorf("a value %T for the type %s", v, spell(t))
	}
}

func mustBe(t *Ydb.Type, ids ...Ydb.Type_PrimitiveTypeId) error {
	if _, primitive := t.GetType().(*Ydb.Type_TypeId); primitive && slices.Contains(ids, t.GetTypeId()) {
		return nil
	}
	return fmt.Errorf("a value of another type than %s", spell(t))
}

// sqliteTypes are the names that columns have in SQLite: its own type first, which
// decides how it stores them, then YDB's.
var sqliteTypes = map[string]string{
	"Bool": "INTEGER BOOL", "Int32": "INTEGER INT32", "Int64": "INTEGER INT64", "Uint32": "INTEGER UINT32", "Uint64": "INTEGER UINT64",
	"String": "BLOB STRING", "Utf8": "TEXT UTF8", "Timestamp": "INTEGER TIMESTAMP",
}

// columnType is the type of a result's column, by the name it has in SQLite. One
// without a name is an expression: those that are here are COUNT, and MAX of a Uint64.
func columnType(declared string, counts bool) (*Ydb.Type, error) {
	switch {
	case declared == "" && counts:
		return primitiveOf(Ydb.Type_UINT64), nil
	case declared == "":
		return optionalOf(primitiveOf(Ydb.Type_UINT64)), nil
	}
	plain, isOptional := strings.CutSuffix(declared, " OPTIONAL")
	for name, have := range sqliteTypes {
		if have == plain && isOptional {
			return optionalOf(primitiveOf(primitives[name])), nil
		} else if have == plain {
			return primitiveOf(primitives[name]), nil
		}
	}
	return nil, fmt.Errorf("a column of the type %s", declared)
}

func primitiveOf(id Ydb.Type_PrimitiveTypeId) *Ydb.Type {
	return &Ydb.Type{Type: &Ydb.Type_TypeId{TypeId: id}}
}

func optionalOf(t *Ydb.Type) *Ydb.Type {
	return &Ydb.Type{Type: &Ydb.Type_OptionalType{OptionalType: &Ydb.OptionalType{Item: t}}}
}

// ydbValue is the inverse of sqliteValue.
func ydbValue(t *Ydb.Type, v any) (*Ydb.Value, error) {
	if v == nil {
		if t.GetOptionalType() == nil {
			return nil, fmt.Errorf("NULL in a column of the type %s", spell(t))
		}
		return &Ydb.Value{Value: &Ydb.Value_NullFlagValue{}}, nil
	}
	if optional := t.GetOptionalType(); optional != nil {
		t = optional.GetItem()
	}
	switch v := v.(type) {
	case bool:
		return &Ydb.Value{Value: &Ydb.Value_BoolValue{BoolValue: v}}, nil
	case string:
		return &Ydb.Value{Value: &Ydb.Value_TextValue{TextValue: v}}, nil
	case []byte:
		if t.GetTypeId() == Ydb.Type_UTF8 {
			return &Ydb.Value{Value: &Ydb.Value_TextValue{TextValue: string(v)}}, nil
		}
		return &Ydb.Value{Value: &Ydb.Value_BytesValue{BytesValue: v}}, nil
	case int64:
		switch t.GetTypeId() {
		case Ydb.Type_BOOL:
			return &Ydb.Value{Value: &Ydb.Value_BoolValue{BoolValue: v != 0}}, nil
		case Ydb.Type_INT32:
			return &Ydb.Value{Value: &Ydb.Value_Int32Value{Int32Value: int32(v)}}, nil
		case Ydb.Type_INT64:
			return &Ydb.Value{Value: &Ydb.Value_Int64Value{Int64Value: v}}, nil
		case Ydb.Type_UINT32:
			return &Ydb.Value{Value: &Ydb.Value_Uint32Value{Uint32Value: uint32(v)}}, nil
		case Ydb.Type_UINT64, Ydb.Type_TIMESTAMP:
			return &Ydb.Value{Value: &Ydb.Value_Uint64Value{Uint64Value: uint64(v)}}, nil
		default:
		}
	}
	return nil, fmt.Errorf("a value %T in a column of the type %s", v, spell(t))
}
