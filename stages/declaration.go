package stages

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Time limits of calls, unless a declaration says otherwise.
const (
	DefaultShouldProcessTimeout = time.Second
	DefaultProcessTimeout       = 30 * time.Second
	DefaultOnSavedTimeout       = 10 * time.Second
)

const (
	leastTimeout          = 10 * time.Millisecond
	greatestShouldProcess = time.Minute
	greatestProcess       = time.Hour
	greatestOnSaved       = 10 * time.Minute
	greatestRate          = 1e6
	greatestParallelism   = 10000
	greatestFields        = 100
)

// name is the rule of gnomon.v1.Entity.type, which stages' names follow too.
var name = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)

// WithDefaults returns the declaration with its zero time limits filled in.
func (d Declaration) WithDefaults() Declaration {
	if d.ShouldProcessTimeout == 0 {
		d.ShouldProcessTimeout = DefaultShouldProcessTimeout
	}
	if d.ProcessTimeout == 0 {
		d.ProcessTimeout = DefaultProcessTimeout
	}
	if d.OnSavedTimeout == 0 {
		d.OnSavedTimeout = DefaultOnSavedTimeout
	}
	return d
}

// wrong is a rule that a field of a declaration breaks. The field is as a file names it,
// such as timeouts.process.
type wrong struct{ field, rule string }

// wrongs are all rules that d breaks. Its zero time limits are filled in.
func (d Declaration) wrongs() (all []wrong) {
	say := func(field, rule string, args ...any) { all = append(all, wrong{field, fmt.Sprintf(rule, args...)}) }
	for _, n := range []struct{ field, value string }{{"name", d.Name}, {"entityType", d.EntityType}} {
		switch {
		case n.value == "":
			say(n.field, "must be set")
		case !name.MatchString(n.value):
			say(n.field, "is %q and must be 1 to 63 lower-case letters, digits and '-', beginning with a letter", n.value)
		}
	}
	switch {
	case d.Address == "" && d.Go == "":
		say("", "address or go must be set")
	case d.Address != "" && d.Go != "":
		say("", "address and go must not both be set")
	case d.Address != "" && !isAddress(d.Address):
		say("address", "is %q and must be host:port or a gRPC target with a scheme, such as dns:///host:port or unix:/run/stage.sock", d.Address)
	}
	for _, limit := range []struct {
		field           string
		value, greatest time.Duration
	}{
		{"timeouts.shouldProcess", d.ShouldProcessTimeout, greatestShouldProcess},
		{"timeouts.process", d.ProcessTimeout, greatestProcess},
		{"timeouts.onSaved", d.OnSavedTimeout, greatestOnSaved},
	} {
		if limit.value < leastTimeout || limit.value > limit.greatest {
			say(limit.field, "is %s and must be %s to %s", limit.value, leastTimeout, limit.greatest)
		}
	}
	// The negation, as NaN is no number of calls either.
	if !(d.RateLimit >= 0 && d.RateLimit <= greatestRate) {
		say("rateLimit", "is %g and must be above 0 and at most %g calls a second, or 0 for no limit", d.RateLimit, greatestRate)
	}
	if d.Parallelism > greatestParallelism {
		say("parallelism", "is %d and must be 1 to %d, or 0 for no limit", d.Parallelism, greatestParallelism)
	}
	if len(d.Fields) > greatestFields {
		say("fields", "are %d, at most %d are allowed", len(d.Fields), greatestFields)
	}
	for i, field := range d.Fields {
		switch {
		case field == "":
			say("fields", "must not have an empty name")
		case slices.Contains(d.Fields[:i], field):
			say("fields", "has %q twice", field)
		}
	}
	return append(all, d.wrongTLS()...)
}

func (d Declaration) wrongTLS() []wrong {
	switch {
	case d.TLS == nil:
		return nil
	case d.Address == "":
		return []wrong{{"tls", "needs address"}}
	case (d.TLS.CertFile == "") != (d.TLS.KeyFile == ""):
		return []wrong{{"tls", "cert and key must be set both or neither"}}
	default:
		return nil
	}
}

func isAddress(a string) bool {
	// Targets with a scheme are judged by gRPC, which knows the schemes.
	if strings.Contains(a, ":/") {
		return true
	}
	_, port, err := net.SplitHostPort(a)
	return err == nil && port != ""
}
