package ydbdouble

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
)

// keywords and functions are all of YQL that is here. SQLite has others, and what
// only it has must not seem to work.
var (
	keywords = strings.Fields(`SELECT FROM WHERE AND OR NOT NULL IS IN AS ON JOIN LEFT ORDER BY DESC ASC LIMIT
		CASE WHEN THEN ELSE END TRUE FALSE VALUES`)
	functions = strings.Fields(`COALESCE FIND MAX COUNT CurrentUtcTimestamp`)
)

// translation is a statement as SQLite has it.
type translation struct {
	script    *script
	catalog   map[string]*table
	sql       strings.Builder
	arguments []any
	// rows are the parameters that stand as tables, by their names.
	rows map[string]*Ydb.TypedValue
	// async says that an asynchronous index is read.
	async bool
	// ordered says that the result has an order; that of a subquery is not its own.
	ordered bool
	// counts says that the result is a COUNT, which is never NULL.
	counts bool
}

// translate gives SQLite's words for one statement that reads or changes rows.
func (s *script) translate(statement []token, catalog map[string]*table) (*translation, error) {
	t := &translation{script: s, catalog: catalog, rows: map[string]*Ydb.TypedValue{}}
	for name, value := range s.parameters {
		if value.GetType().GetListType() != nil {
			continue
		}
		v, err := sqliteValue(value.GetType(), value.GetValue())
		if err != nil {
			return nil, fmt.Errorf("the parameter $%s is %w", name, err)
		}
		t.arguments = append(t.arguments, sql.Named(name, v))
	}
	t.ordered = len(split(statement, "ORDER")) > 1
	t.counts = len(statement) > 1 && statement[1].is("COUNT")
	var err error
	switch {
	case statement[0].is("SELECT"):
		err = t.expression(statement)
	case statement[0].is("DELETE"):
		err = t.delete(statement)
	default:
		err = t.insert(statement)
	}
	return t, err
}

// lookUp finds a table.
func (t *translation) lookUp(name token) (string, *table, error) {
	path, err := t.script.path(name)
	if err != nil {
		return "", nil, err
	}
	if have := t.catalog[path]; have != nil {
		return path, have, nil
	}
	return "", nil, &schemeError{fmt.Sprintf("Cannot find table '%s'", path)}
}

// delete translates DELETE FROM table WHERE and DELETE FROM table ON SELECT keys FROM.
func (t *translation) delete(statement []token) error {
	if len(statement) < 5 || !statement[1].is("FROM") {
		return fmt.Errorf("a DELETE that is not here")
	}
	path, have, err := t.lookUp(statement[2])
	if err != nil {
		return err
	}
	fmt.Fprintf(&t.sql, "DELETE FROM %s ", name(path))
	rest := statement[3:]
	if rest[0].is("WHERE") {
		return t.expression(rest)
	}
	if !rest[0].is("ON") || !rest[1].is("SELECT") {
		return fmt.Errorf("a DELETE that is not here")
	}
	var keys []string
	for _, t := range rest[2:] {
		if t.is("FROM") {
			break
		}
		if !t.is(",") {
			keys = append(keys, t.text)
		}
	}
	if !slices.Equal(keys, have.key) {
		return fmt.Errorf("a DELETE ON %v, but the key is %v", keys, have.key)
	}
	fmt.Fprintf(&t.sql, "WHERE (%s) IN (", names(have.key))
	if err := t.expression(rest[1:]); err != nil {
		return err
	}
	t.sql.WriteString(")")
	return nil
}

// insert translates INSERT INTO and UPSERT INTO, which names all columns that may not
// be NULL.
func (t *translation) insert(statement []token) error {
	end := closing(statement, 3)
	if len(statement) < 6 || !statement[1].is("INTO") || !statement[3].is("(") || end < 0 {
		return fmt.Errorf("an %s that is not here", statement[0].text)
	}
	path, have, err := t.lookUp(statement[2])
	if err != nil {
		return err
	}
	var columns []string
	for _, part := range split(statement[4:end], ",") {
		if len(part) != 1 || have.columns[part[0].text] == "" {
			return &schemeError{fmt.Sprintf("No such column in %s: %v", path, part)}
		}
		columns = append(columns, part[0].text)
	}
	fmt.Fprintf(&t.sql, "INSERT INTO %s (%s) ", name(path), names(columns))
	if !statement[0].is("UPSERT") {
		return t.expression(statement[end+1:])
	}
	fmt.Fprintf(&t.sql, "SELECT %s FROM (", names(columns))
	if err := t.expression(statement[end+1:]); err != nil {
		return err
	}
	var set []string
	for _, c := range columns {
		set = append(set, fmt.Sprintf("%s = excluded.%s", name(c), name(c)))
	}
	fmt.Fprintf(&t.sql, ") WHERE true ON CONFLICT (%s) DO UPDATE SET %s", names(have.key), strings.Join(set, ", "))
	return nil
}

// expression translates tokens from left to right. Tables stand after FROM and JOIN,
// a list after IN, a type after AS in a CAST.
func (t *translation) expression(tokens []token) error {
	for i := 0; i < len(tokens); i++ {
		now := tokens[i]
		switch {
		case now.is("FROM") || now.is("JOIN"):
			t.sql.WriteString(" " + now.text)
			used, err := t.source(tokens[i+1:])
			if err != nil {
				return err
			}
			i += used
		case now.is("IN") && i+1 < len(tokens) && tokens[i+1].kind == parameter:
			i++
			if err := t.list(tokens[i].text); err != nil {
				return err
			}
		case now.is("CAST"):
			end := closing(tokens, i+1)
			if end < 0 || sqliteTypes[tokens[end-1].text] == "" || !tokens[end-2].is("AS") {
				return fmt.Errorf("a CAST that is not here")
			}
			t.sql.WriteString(" CAST(")
			if err := t.expression(tokens[i+2 : end-2]); err != nil {
				return err
			}
			storage, _, _ := strings.Cut(sqliteTypes[tokens[end-1].text], " ")
			t.sql.WriteString(" AS " + storage + ")")
			i = end
		default:
			called := i+1 < len(tokens) && tokens[i+1].is("(")
			if err := t.one(now, called); err != nil {
				return err
			}
		}
	}
	return nil
}

// one translates a token that stands for itself. called says that a parenthesis
// follows.
func (t *translation) one(now token, called bool) error {
	switch {
	case now.kind == mark:
		t.sql.WriteString(" " + now.text)
	case now.kind == number:
		t.sql.WriteString(" " + now.text)
	case now.kind == text:
		t.sql.WriteString(" '" + strings.ReplaceAll(now.text, "'", "''") + "'")
	case now.kind == parameter:
		value, ok := t.script.parameters[now.text]
		if !ok || value.GetType().GetListType() != nil {
			return fmt.Errorf("$%s where a declared value should be", now.text)
		}
		t.sql.WriteString(" @" + now.text)
	case now.kind == word && slices.ContainsFunc(keywords, now.is):
		t.sql.WriteString(" " + now.text)
	case now.kind == word && called:
		if !slices.Contains(functions, now.text) {
			return fmt.Errorf("the function %s, which is not here", now.text)
		}
		t.sql.WriteString(" " + now.text)
	default:
		t.sql.WriteString(" " + name(now.text))
	}
	return nil
}

// source translates what stands after FROM or JOIN, and says of how many tokens it
// is: a table and its index, a named expression, a parameter as a table.
func (t *translation) source(tokens []token) (int, error) {
	if len(tokens) == 0 {
		return 0, fmt.Errorf("nothing where a table should be")
	}
	first := tokens[0]
	switch {
	case first.is("AS_TABLE"):
		if len(tokens) < 4 || tokens[2].kind != parameter {
			return 0, fmt.Errorf("an AS_TABLE that is not here")
		}
		parameter := tokens[2].text
		value := t.script.parameters[parameter]
		if value.GetType().GetListType().GetItem().GetStructType() == nil {
			return 0, fmt.Errorf("AS_TABLE of $%s, which is no list of structs", parameter)
		}
		t.rows[parameter] = value
		t.sql.WriteString(" temp." + name(parameter))
		return 4, nil
	case first.kind == parameter:
		named, ok := t.script.named[first.text]
		if !ok {
			return 0, fmt.Errorf("$%s where a table should be", first.text)
		}
		t.sql.WriteString(" (")
		err := t.expression(named)
		t.sql.WriteString(")")
		return 1, err
	}
	path, have, err := t.lookUp(first)
	if err != nil {
		return 0, err
	}
	t.sql.WriteString(" " + name(path))
	if len(tokens) < 3 || !tokens[1].is("VIEW") {
		return 1, nil
	}
	async, ok := have.indexes[tokens[2].text]
	if !ok {
		return 0, &schemeError{fmt.Sprintf("Required global index not found, index name: %s", tokens[2].text)}
	}
	t.async = t.async || async
	// SQLite fails if it cannot use it.
	t.sql.WriteString(" INDEXED BY " + name(path+"/"+tokens[2].text))
	return 3, nil
}

// list translates a parameter after IN. An empty list has no type and is refused.
func (t *translation) list(parameter string) error {
	value, ok := t.script.parameters[parameter]
	items := value.GetValue().GetItems()
	if !ok || value.GetType().GetListType() == nil || len(items) == 0 {
		return fmt.Errorf("$%s where a declared list of at least one should be", parameter)
	}
	marks := make([]string, len(items))
	for i, item := range items {
		v, err := sqliteValue(value.GetType().GetListType().GetItem(), item)
		if err != nil {
			return fmt.Errorf("the parameter $%s holds %w", parameter, err)
		}
		marks[i] = fmt.Sprintf("@%s_%d", parameter, i)
		t.arguments = append(t.arguments, sql.Named(marks[i][1:], v))
	}
	t.sql.WriteString(" IN (" + strings.Join(marks, ", ") + ")")
	return nil
}

// name quotes a name for SQLite, so that nothing else is meant.
func name(s string) string { return "[" + strings.ReplaceAll(s, "]", "") + "]" }

func names(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = name(s)
	}
	return strings.Join(quoted, ", ")
}
