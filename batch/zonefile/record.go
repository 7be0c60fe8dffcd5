package zonefile

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch/records"
)

// record is one line's. Its name is canonical; data is empty where a line names a set
// only.
type record struct {
	name, kind, data string
	ttl              uint32
}

// directive takes a line that begins with $.
func (p *parser) directive(text string) error {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return fmt.Errorf("%s takes one value", fields[0])
	}
	value := fields[1]
	switch strings.ToUpper(fields[0]) {
	case "$ORIGIN":
		if !strings.HasSuffix(value, ".") && p.origin != "" {
			value += "." + p.origin
		}
		if _, ok := dns.IsDomainName(value); !ok {
			return errors.New("$ORIGIN takes a domain name")
		}
		p.origin = dns.CanonicalName(value)
	case "$TTL":
		if _, err := p.parse("1.test. " + value + " A 192.0.2.1"); err != nil || !isTTL(value) {
			return errors.New("$TTL takes seconds, or a time such as 1h30m")
		}
		p.ttl = value
	case "$OWNER":
		p.owner = strings.Trim(value, `"`)
	default:
		return fmt.Errorf("%s is not known here, only $ORIGIN, $TTL and $OWNER are", fields[0])
	}
	return nil
}

// record reads what follows the verb.
func (p *parser) record(text string) (record, error) {
	fields := strings.Fields(text)
	// Name, and time to live and class in any order, then the type.
	at := 1
	explicit := ""
	for at < len(fields) && at < 3 && (isTTL(fields[at]) || strings.EqualFold(fields[at], "IN")) {
		if isTTL(fields[at]) {
			explicit = fields[at]
		}
		at++
	}
	if at >= len(fields) {
		return record{}, errors.New("a record is: name [time to live] [IN] type [data]")
	}
	r := record{kind: strings.ToUpper(fields[at])}
	if n := gnomonv1.DnsRecordChange_Type_value[r.kind]; n == 0 {
		return record{}, fmt.Errorf("records of type %q cannot be changed", fields[at])
	}
	if at == len(fields)-1 {
		var err error
		r.name, err = p.name(fields[0])
		return r, err
	}
	rr, err := p.parse(text)
	if err != nil {
		return record{}, err
	}
	r.name = dns.CanonicalName(rr.Header().Name)
	r.data = records.Set{rr}.Data()[0]
	r.ttl = rr.Header().Ttl
	if explicit != "" && r.ttl == 0 {
		return record{}, errors.New("a time to live of 0 cannot be asked for: it stands for the installation's default")
	}
	return r, nil
}

// name makes a name absolute.
func (p *parser) name(text string) (string, error) {
	if text == "@" {
		text = p.origin
	} else if !strings.HasSuffix(text, ".") && p.origin != "" {
		text += "." + strings.TrimPrefix(p.origin, ".")
	}
	if !strings.HasSuffix(text, ".") {
		return "", errors.New("the name is relative and there is no $ORIGIN")
	}
	return dns.CanonicalName(text), nil
}

// parse reads one whole record as zone files have it.
func (p *parser) parse(text string) (dns.RR, error) {
	z := dns.NewZoneParser(strings.NewReader("$TTL "+cmp.Or(p.ttl, "0")+"\n"+text+"\n"), p.origin, "")
	z.SetIncludeAllowed(false)
	rr, ok := z.Next()
	if err := z.Err(); err != nil || !ok {
		return nil, explain(err, p.origin)
	}
	if _, more := z.Next(); more || z.Err() != nil {
		return nil, errors.New("the line is more than one record")
	}
	return rr, nil
}

// explain says what the parser found, without its own line numbers.
func explain(err error, origin string) error {
	if pe, ok := errors.AsType[*dns.ParseError](err); ok {
		text, _, _ := strings.Cut(strings.TrimPrefix(pe.Error(), "dns: "), " at line:")
		if origin == "" && strings.Contains(text, "bad") && !strings.Contains(text, "bad A") {
			text += "; if a name is relative, $ORIGIN must say to what"
		}
		return errors.New(text)
	}
	return errors.New("this is not a record")
}

// isTTL says whether a word is a time to live: seconds, or times with the units of zone
// files.
func isTTL(word string) bool {
	if _, err := strconv.ParseUint(word, 10, 32); err == nil {
		return true
	}
	return word != "" && word[0] >= '0' && word[0] <= '9' && strings.Trim(strings.ToLower(word), "0123456789smhdw") == ""
}
