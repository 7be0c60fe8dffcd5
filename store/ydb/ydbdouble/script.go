package ydbdouble

import (
	"fmt"
	"strings"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
)

// script is what a client sent, taken apart and its parameters checked.
type script struct {
	prefix     string
	parameters map[string]*Ydb.TypedValue
	named      map[string][]token // expressions that were given a name, without their parentheses
	statements [][]token
	writes     bool // it changes rows
	ddl        bool // it changes tables
}

// parseScript reads a script. Parameters must be declared, of the declared types, and
// all there. An error is the client's.
func parseScript(sent string, given map[string]*Ydb.TypedValue) (*script, error) {
	tokens, err := lex(sent)
	if err != nil {
		return nil, err
	}
	s := &script{parameters: map[string]*Ydb.TypedValue{}, named: map[string][]token{}}
	for _, statement := range split(tokens, ";") {
		if len(statement) == 0 {
			continue
		}
		if err := s.add(statement, given); err != nil {
			return nil, err
		}
	}
	for name := range given {
		if _, ok := s.parameters[strings.TrimPrefix(name, "$")]; !ok {
			return nil, fmt.Errorf("the parameter %s, which is not declared", name)
		}
	}
	if s.ddl && len(s.statements) > 1 {
		return nil, fmt.Errorf("a statement that changes tables is not alone")
	}
	return s, nil
}

// add takes in one statement.
func (s *script) add(statement []token, given map[string]*Ydb.TypedValue) error {
	first := statement[0]
	switch {
	case first.is("PRAGMA"):
		if len(statement) != 5 || !statement[1].is("TablePathPrefix") || statement[3].kind != text {
			return fmt.Errorf("a PRAGMA that is not here")
		}
		s.prefix = statement[3].text
		return nil
	case first.is("DECLARE"):
		return s.declare(statement, given)
	case first.kind == parameter:
		end := len(statement) - 1
		if len(statement) < 5 || !statement[1].is("=") || !statement[2].is("(") || closing(statement, 2) != end {
			return fmt.Errorf("an expression $%s that is not in parentheses", first.text)
		}
		s.named[first.text] = statement[3:end]
		return nil
	case first.is("SELECT"):
	case first.is("UPSERT"), first.is("INSERT"), first.is("DELETE"):
		s.writes = true
	case first.is("CREATE"), first.is("DROP"), first.is("ALTER"):
		s.ddl = true
	default:
		return fmt.Errorf("a statement %s, which is not here", first.text)
	}
	s.statements = append(s.statements, statement)
	return nil
}

// declare checks a parameter against its declaration: DECLARE $name AS type.
func (s *script) declare(statement []token, given map[string]*Ydb.TypedValue) error {
	if len(statement) < 4 || statement[1].kind != parameter || !statement[2].is("AS") {
		return fmt.Errorf("a DECLARE that is not complete")
	}
	name := statement[1].text
	declared, rest, err := parseType(statement[3:])
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("a DECLARE of $%s that goes on after its type", name)
	}
	value, ok := given["$"+name]
	if !ok {
		return fmt.Errorf("no value for the parameter $%s", name)
	}
	if have := spell(value.GetType()); have != declared {
		return fmt.Errorf("the parameter $%s has the type %s, but is declared as %s", name, have, declared)
	}
	if _, ok := s.parameters[name]; ok {
		return fmt.Errorf("the parameter $%s is declared twice", name)
	}
	s.parameters[name] = value
	return nil
}

// path is a table's, as the catalog has it.
func (s *script) path(t token) (string, error) {
	if t.kind != word && t.kind != quoted {
		return "", fmt.Errorf("%q where a table should be", t.text)
	}
	if strings.HasPrefix(t.text, "/") {
		return t.text, nil
	}
	return strings.TrimSuffix(s.prefix, "/") + "/" + t.text, nil
}
