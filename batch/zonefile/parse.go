package zonefile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch/records"
)

// maxLine bounds a line, in bytes.
const maxLine = 256 << 10

// Parse reads a file. The error has a line for each mistake, "name:line: what". The
// changes are to be validated as any; see package records.
func Parse(name string, r io.Reader) ([]*gnomonv1.DnsRecordChange, error) {
	p := parser{sets: map[key]*set{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		p.line++
		if err := p.read(lines.Text()); err != nil {
			p.say(p.line, err)
		}
	}
	if err := lines.Err(); err != nil {
		p.say(p.line+1, err)
	}
	var all []*gnomonv1.DnsRecordChange
	for _, s := range p.order {
		change, err := s.change()
		if err != nil {
			p.say(s.line, err)
		}
		all = append(all, change)
	}
	if len(all) == 0 && len(p.mistakes) == 0 {
		p.say(p.line, errors.New("the file has no change"))
	}
	if len(p.mistakes) > 0 {
		return nil, prefixed(name, p.mistakes)
	}
	return all, nil
}

// prefixed puts the file's name before each mistake.
func prefixed(name string, mistakes []error) error {
	var all []error
	for _, m := range mistakes {
		all = append(all, fmt.Errorf("%s:%w", name, m))
	}
	return errors.Join(all...)
}

// parser is where the reading of a file stands.
type parser struct {
	line               int
	origin, ttl, owner string
	sets               map[key]*set
	order              []*set
	mistakes           []error
}

func (p *parser) say(line int, err error) {
	p.mistakes = append(p.mistakes, fmt.Errorf("%d: %w", line, err))
}

// key is what makes records one set.
type key struct{ name, kind string }

// read takes a line.
func (p *parser) read(text string) error {
	text = strings.TrimSpace(uncommented(strings.TrimSuffix(text, "\r")))
	switch {
	case text == "":
		return nil
	case text[0] == '$':
		return p.directive(text)
	}
	verb, rest, err := verbOf(text)
	if err != nil {
		return err
	}
	r, err := p.record(strings.TrimSpace(rest))
	if err != nil {
		return err
	}
	s := p.set(r)
	return s.take(verb, r, p.line)
}

// set is the one that a record belongs to.
func (p *parser) set(r record) *set {
	at := key{r.name, r.kind}
	s, ok := p.sets[at]
	if !ok {
		s = &set{key: at, line: p.line, owner: p.owner}
		p.sets[at] = s
		p.order = append(p.order, s)
	}
	return s
}

// verbs that lines begin with.
const (
	verbAdd    = "add"
	verbDelete = "delete"
	verbUpdate = "update"
)

// verbOf cuts a line into its verb and the record.
func verbOf(text string) (verb, rest string, err error) {
	switch text[0] {
	case '+':
		return verbAdd, text[1:], nil
	case '-':
		return verbDelete, text[1:], nil
	}
	verb, rest, _ = strings.Cut(strings.Replace(text, "\t", " ", 1), " ")
	switch lower := strings.ToLower(verb); lower {
	case verbAdd, verbDelete, verbUpdate:
		return lower, rest, nil
	}
	return "", "", errors.New("a line begins with +, -, add, delete, update, $ORIGIN, $TTL, $OWNER or ;")
}

// uncommented is a line without its comment, which a ; outside quotes begins.
func uncommented(text string) string {
	quoted, escaped := false, false
	for i, c := range text {
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case c == ';' && !quoted:
			return text[:i]
		}
	}
	return text
}

// set is all lines about one set.
type set struct {
	key
	line           int
	owner          string
	added, removed []string
	// whole: the set is removed, whatever stands; updated: added says all it shall be.
	whole, updated bool
	ttl            uint32
	ttlLine        int
}

// take notes one more line.
func (s *set) take(verb string, r record, line int) error {
	if verb == verbDelete {
		if s.updated {
			return fmt.Errorf("line %d updates this set; write + and - lines, or update lines", s.line)
		}
		s.whole = s.whole || r.data == ""
		if r.data != "" {
			s.removed = append(s.removed, r.data)
		}
		return nil
	}
	if r.data == "" {
		return errors.New("the record's data is missing")
	}
	if first := len(s.added)+len(s.removed) == 0 && !s.whole; !first && s.updated != (verb == verbUpdate) {
		return fmt.Errorf("line %d says something else about this set; write + and - lines, or update lines", s.line)
	}
	if s.ttlLine != 0 && s.ttl != r.ttl {
		return fmt.Errorf("the records of a set have one time to live, which is %d in line %d", s.ttl, s.ttlLine)
	}
	s.updated = verb == verbUpdate
	s.ttl, s.ttlLine = r.ttl, line
	s.added = append(s.added, r.data)
	return nil
}

// change is what the lines come to.
func (s *set) change() (*gnomonv1.DnsRecordChange, error) {
	c := &gnomonv1.DnsRecordChange{
		Action: gnomonv1.DnsRecordChange_UPDATE,
		Name:   s.name, Type: gnomonv1.DnsRecordChange_Type(gnomonv1.DnsRecordChange_Type_value[s.kind]),
		Ttl: s.ttl, Data: s.added, PreviousData: s.removed, Owner: s.owner,
	}
	switch {
	case s.whole && len(s.removed) > 0:
		return nil, errors.New("the set is deleted both whatever stands and as named records; say one")
	case len(s.added) == 0:
		c.Action = gnomonv1.DnsRecordChange_DELETE
	case len(s.removed) == 0 && !s.whole && !s.updated:
		c.Action = gnomonv1.DnsRecordChange_ADD
	}
	if found := records.Check(c); len(found) > 0 {
		return nil, errors.New(found[0].GetMessage())
	}
	return c, nil
}
