package stages

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"gnomon/outbound"
)

// entry is one stage of a file.
type entry struct {
	declaration Declaration
	// place is its path, such as stages[2], and lines where it and its fields begin; the
	// field "" is the stage itself.
	place string
	lines map[string]int
}

// problem says where a rule is broken that the declaration breaks.
func (e entry) problem(w wrong) problem {
	line, ok := e.lines[w.field]
	if !ok {
		line = e.lines[""]
	}
	place := e.place
	if w.field != "" {
		place += "." + w.field
	}
	return problem{line: line, place: place, rule: w.rule}
}

// problem is something that is wrong with a file. What it says is read after the place.
type problem struct {
	line        int
	place, rule string
	// unread: it is not of the type that it must be.
	unread bool
}

type problems []problem

// with adds what is wrong, unless what stands there could not even be read.
func (p problems) with(another problem) problems {
	for _, one := range p {
		if one.place == another.place && one.unread {
			return p
		}
	}
	return append(p, another)
}

// err has a line for each problem, in the order of the file.
func (p problems) err() error {
	slices.SortStableFunc(p, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	errs := make([]error, len(p))
	for i, one := range p {
		errs[i] = fmt.Errorf("line %d: %s: %s", one.line, one.place, one.rule)
	}
	return errors.Join(errs...)
}

// form reads the nodes of a file, and notes all that is wrong with them. YAML's own
// decoder stops at the first.
type form struct {
	problems problems
	// lines are those of the stage being read, and stage its path.
	lines map[string]int
	stage string
}

// parse reads the stages of a file.
func parse(text []byte) ([]entry, problems) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, problems{syntax(err)}
	}
	f := &form{}
	var found []entry
	switch {
	case len(file.Docs) > 1 && file.Docs[1].Body != nil:
		f.say(file.Docs[1].Body, "the file", "must hold one document")
	case len(file.Docs) == 0 || file.Docs[0].Body == nil:
		return nil, problems{{line: 1, place: "stages", rule: "must be set"}}
	default:
		seen := false
		f.object(file.Docs[0].Body, "", map[string]func(ast.Node, string){"stages": func(n ast.Node, place string) {
			seen = true
			f.list(n, place, func(n ast.Node, place string) {
				if _, ok := n.(*ast.MappingNode); !ok {
					f.say(n, place, "must be an object")
					return
				}
				found = append(found, f.entry(n, place))
			})
		}})
		if !seen {
			f.say(file.Docs[0].Body, "stages", "must be set")
		}
	}
	f.unique(found)
	return found, f.problems
}

// syntax is what YAML says, without the drawing of the lines around it.
func syntax(err error) problem {
	line, text := 1, yaml.FormatError(err, false, false)
	if found, ok := errors.AsType[yaml.Error](err); ok && found.GetToken() != nil {
		line, text = found.GetToken().Position.Line, found.GetMessage()
	}
	return problem{line: line, place: "the file", rule: text}
}

// unique finds names that are there twice.
func (f *form) unique(all []entry) {
	first := map[string]entry{}
	for _, one := range all {
		n := one.declaration.Name
		if before, taken := first[n]; taken && n != "" {
			f.problems = append(f.problems, one.problem(wrong{"name", fmt.Sprintf("is %q, as that of %s in line %d", n, before.place, before.lines["name"])}))
			continue
		}
		first[n] = one
	}
}

// entry reads one stage.
func (f *form) entry(n ast.Node, place string) entry {
	f.lines, f.stage = map[string]int{"": line(n)}, place
	e := entry{place: place, lines: f.lines}
	d := &e.declaration
	f.object(n, place, map[string]func(ast.Node, string){
		"name":       f.text(&d.Name),
		"entityType": f.text(&d.EntityType),
		"address":    f.text(&d.Address),
		"go":         f.text(&d.Go),
		"timeouts": func(n ast.Node, place string) {
			f.object(n, place, map[string]func(ast.Node, string){
				"shouldProcess": f.duration(&d.ShouldProcessTimeout),
				"process":       f.duration(&d.ProcessTimeout),
				"onSaved":       f.duration(&d.OnSavedTimeout),
			})
		},
		"rateLimit":   f.number(&d.RateLimit),
		"parallelism": f.count(&d.Parallelism),
		"fields": func(n ast.Node, place string) {
			f.list(n, place, func(n ast.Node, place string) {
				var field string
				f.text(&field)(n, place)
				d.Fields = append(d.Fields, field)
			})
		},
		"onSaved": f.truth(&d.OnSaved),
		"tls": func(n ast.Node, place string) {
			d.TLS = &outbound.TLS{}
			f.object(n, place, map[string]func(ast.Node, string){
				"ca": f.text(&d.TLS.CAFile), "cert": f.text(&d.TLS.CertFile), "key": f.text(&d.TLS.KeyFile),
				"serverName": f.text(&d.TLS.ServerName),
			})
		},
	})
	return e
}

func (f *form) say(n ast.Node, place, rule string, args ...any) {
	f.problems = append(f.problems, problem{line: line(n), place: place, rule: fmt.Sprintf(rule, args...), unread: true})
}

// object reads the fields of an object, each by its name.
func (f *form) object(n ast.Node, place string, fields map[string]func(ast.Node, string)) {
	object, ok := n.(*ast.MappingNode)
	if !ok {
		f.say(n, cmp.Or(place, "the file"), "must be an object")
		return
	}
	for _, field := range object.Values {
		key := field.Key.GetToken()
		at := strings.TrimPrefix(place+"."+key.Value, ".")
		read, known := fields[key.Value]
		if !known {
			f.problems = append(f.problems, problem{line: key.Position.Line, place: at, rule: "is no field there is"})
			continue
		}
		if within, ok := strings.CutPrefix(at, f.stage+"."); ok && f.stage != "" {
			f.lines[within] = key.Position.Line
		}
		read(field.Value, at)
	}
}

// list reads the members of a list.
func (f *form) list(n ast.Node, place string, read func(ast.Node, string)) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		f.say(n, place, "must be a list")
		return
	}
	for i, member := range list.Values {
		read(member, fmt.Sprintf("%s[%d]", place, i))
	}
}

func (f *form) text(to *string) func(ast.Node, string) {
	return func(n ast.Node, place string) {
		switch n := n.(type) {
		case *ast.StringNode:
			*to = n.Value
		case *ast.LiteralNode:
			*to = n.Value.Value
		default:
			f.say(n, place, "must be text")
		}
	}
}

func (f *form) duration(to *time.Duration) func(ast.Node, string) {
	return func(n ast.Node, place string) {
		text, ok := n.(*ast.StringNode)
		if !ok {
			f.say(n, place, "must be a duration such as 1s")
			return
		}
		d, err := time.ParseDuration(text.Value)
		if err != nil || d == 0 {
			f.say(n, place, "is %q and must be a duration such as 1s", text.Value)
			return
		}
		*to = d
	}
}

func (f *form) number(to *float64) func(ast.Node, string) {
	return func(n ast.Node, place string) {
		switch n := n.(type) {
		case *ast.FloatNode:
			*to = n.Value
		case *ast.IntegerNode:
			*to = float64(integer(n))
		default:
			f.say(n, place, "must be a number")
		}
	}
}

func (f *form) count(to *uint32) func(ast.Node, string) {
	return func(n ast.Node, place string) {
		number, ok := n.(*ast.IntegerNode)
		if !ok || integer(number) < 0 {
			f.say(n, place, "must be a whole number that is not negative")
			return
		}
		*to = uint32(min(integer(number), math.MaxUint32))
	}
}

// integer is a number of YAML, which has them with and without a sign.
func integer(n *ast.IntegerNode) int64 {
	switch v := n.Value.(type) {
	case int64:
		return v
	case uint64:
		return int64(min(v, math.MaxInt64))
	default:
		return 0
	}
}

func (f *form) truth(to *bool) func(ast.Node, string) {
	return func(n ast.Node, place string) {
		truth, ok := n.(*ast.BoolNode)
		if !ok {
			f.say(n, place, "must be true or false")
			return
		}
		*to = truth.Value
	}
}

func line(n ast.Node) int { return n.GetToken().Position.Line }
