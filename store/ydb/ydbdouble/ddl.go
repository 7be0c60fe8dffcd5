package ydbdouble

import (
	"fmt"
	"slices"
	"strings"
)

// table is what the catalog knows of a table.
type table struct {
	columns map[string]string // names and types, as parseType spells them
	order   []string
	key     []string
	indexes map[string]bool // whether each is asynchronous
	with    []string        // the names of its settings
}

// schemeError is YDB's SCHEME_ERROR.
type schemeError struct{ message string }

func (e *schemeError) Error() string { return e.message }

// change runs a statement that changes tables: it gives SQLite's statements and
// changes the catalog.
func (s *script) change(catalog map[string]*table) ([]string, error) {
	statement := s.statements[0]
	if len(statement) < 3 || !statement[1].is("TABLE") {
		return nil, fmt.Errorf("a %s that is not here", statement[0].text)
	}
	rest := statement[2:]
	exists := len(rest) > 3 && rest[0].is("IF") && rest[1].is("NOT") && rest[2].is("EXISTS")
	if exists {
		rest = rest[3:]
	}
	path, err := s.path(rest[0])
	if err != nil {
		return nil, err
	}
	have := catalog[path]
	switch {
	case statement[0].is("CREATE") && have != nil && exists:
		return nil, nil
	case statement[0].is("CREATE") && have != nil:
		return nil, &schemeError{fmt.Sprintf("Check failed: path: '%s', error: path exist", path)}
	case statement[0].is("CREATE"):
		return create(catalog, path, rest[1:])
	case have == nil:
		return nil, &schemeError{fmt.Sprintf("Path does not exist: '%s'", path)}
	case statement[0].is("DROP"):
		delete(catalog, path)
		return []string{"DROP TABLE " + name(path)}, nil
	default:
		return nil, alter(have, rest[1:])
	}
}

// create makes a table: its columns, its indexes, its key, its settings.
func create(catalog map[string]*table, path string, tokens []token) ([]string, error) {
	end := closing(tokens, 0)
	if end < 0 || !tokens[0].is("(") {
		return nil, fmt.Errorf("a CREATE TABLE without columns")
	}
	t := &table{columns: map[string]string{}, indexes: map[string]bool{}}
	var described [][]token
	for _, part := range split(tokens[1:end], ",") {
		switch {
		case len(part) > 3 && part[0].is("PRIMARY") && part[1].is("KEY"):
			t.key = inside(part, 2)
		case len(part) > 5 && part[0].is("INDEX"):
			described = append(described, part)
		default:
			if err := t.column(part); err != nil {
				return nil, err
			}
		}
	}
	if err := t.settings(tokens[end+1:]); err != nil {
		return nil, err
	}
	var columns []string
	for _, c := range t.order {
		plain, optional := strings.CutPrefix(t.columns[c], "Optional<")
		declared := sqliteTypes[strings.TrimSuffix(plain, ">")] + " NOT NULL"
		if optional {
			declared = sqliteTypes[strings.TrimSuffix(plain, ">")] + " OPTIONAL"
		}
		columns = append(columns, name(c)+" "+declared)
	}
	if len(t.key) == 0 || slices.ContainsFunc(t.key, func(c string) bool { return t.columns[c] == "" }) {
		return nil, &schemeError{"a primary key of columns that are not there"}
	}
	var indexes []string
	for _, part := range described {
		index, err := t.index(path, part)
		if err != nil {
			return nil, err
		}
		indexes = append(indexes, index)
	}
	catalog[path] = t
	made := fmt.Sprintf("CREATE TABLE %s (%s, PRIMARY KEY (%s)) WITHOUT ROWID", name(path), strings.Join(columns, ", "), names(t.key))
	return append([]string{made}, indexes...), nil
}

// column takes in a column: name, type, NOT NULL.
func (t *table) column(part []token) error {
	if len(part) < 2 {
		return fmt.Errorf("a column that is not complete")
	}
	spelt, rest, err := parseType(part[1:])
	if err != nil {
		return err
	}
	switch {
	case len(rest) == 0:
		spelt = "Optional<" + spelt + ">"
	case len(rest) != 2 || !rest[0].is("NOT") || !rest[1].is("NULL"):
		return fmt.Errorf("a column %s that goes on after its type", part[0].text)
	}
	t.columns[part[0].text] = spelt
	t.order = append(t.order, part[0].text)
	return nil
}

// index takes in INDEX name GLOBAL [SYNC|ASYNC] ON (columns) [COVER (columns)]. What
// it covers is part of SQLite's index, so that its plans show whether that is enough.
func (t *table) index(path string, part []token) (string, error) {
	index := part[1].text
	if !part[2].is("GLOBAL") {
		return "", fmt.Errorf("an index %s that is not global", index)
	}
	at := slices.IndexFunc(part, func(p token) bool { return p.is("ON") })
	if at < 0 {
		return "", fmt.Errorf("an index %s on nothing", index)
	}
	t.indexes[index] = part[3].is("ASYNC")
	columns := append(inside(part, at+1), t.key...)
	if cover := slices.IndexFunc(part, func(p token) bool { return p.is("COVER") }); cover > 0 {
		columns = append(columns, inside(part, cover+1)...)
	}
	var unique []string
	for _, c := range columns {
		if t.columns[c] == "" {
			return "", &schemeError{fmt.Sprintf("an index %s on a column %s that is not there", index, c)}
		}
		if !slices.Contains(unique, c) {
			unique = append(unique, c)
		}
	}
	return fmt.Sprintf("CREATE INDEX %s ON %s (%s)", name(path+"/"+index), name(path), names(unique)), nil
}

// knownSettings are those of WITH that are here; none does anything but TTL's rule.
var knownSettings = []string{
	"AUTO_PARTITIONING_BY_SIZE", "AUTO_PARTITIONING_BY_LOAD", "AUTO_PARTITIONING_MIN_PARTITIONS_COUNT", "UNIFORM_PARTITIONS", "TTL",
}

// settings takes in WITH (name = value, ...).
func (t *table) settings(tokens []token) error {
	if len(tokens) == 0 {
		return nil
	}
	if !tokens[0].is("WITH") || closing(tokens, 1) != len(tokens)-1 {
		return fmt.Errorf("a CREATE TABLE that goes on after its columns")
	}
	for _, part := range split(tokens[2:len(tokens)-1], ",") {
		if len(part) < 3 || !slices.Contains(knownSettings, part[0].text) || !part[1].is("=") {
			return fmt.Errorf("a setting that is not here: %v", part)
		}
		column := part[len(part)-1].text
		if part[0].is("TTL") && t.columns[column] != "Optional<Timestamp>" && t.columns[column] != "Timestamp" {
			return &schemeError{fmt.Sprintf("TTL on %s, which is no Timestamp", column)}
		}
		t.with = append(t.with, part[0].text)
	}
	return nil
}

// alter takes in ALTER INDEX name SET (setting = value), which does nothing here.
func alter(t *table, tokens []token) error {
	if len(tokens) < 8 || !tokens[0].is("ALTER") || !tokens[1].is("INDEX") || !tokens[3].is("SET") || !slices.Contains(knownSettings, tokens[5].text) {
		return fmt.Errorf("an ALTER TABLE that is not here")
	}
	if _, ok := t.indexes[tokens[2].text]; !ok {
		return &schemeError{fmt.Sprintf("no index %s", tokens[2].text)}
	}
	return nil
}

// inside is the names in the parentheses that open at a place.
func inside(tokens []token, open int) []string {
	var all []string
	for i := open + 1; i < closing(tokens, open); i++ {
		if !tokens[i].is(",") {
			all = append(all, tokens[i].text)
		}
	}
	return all
}
