package kind

import (
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNotAllowed says that no pattern of the allow-list permits a program with these
// arguments. It names neither.
var ErrNotAllowed = errors.New("the agent's allow-list does not permit this program with these arguments")

// rest, as the last word of a pattern, permits any number of further arguments.
const rest = "**"

// shells and what else runs whatever its arguments say. A wildcard never permits them.
var shells = []string{
	"ash", "awk", "bash", "busybox", "chroot", "csh", "dash", "doas", "env", "find", "fish", "gawk", "ionice", "ksh", "ksh93",
	"ld.so", "lua", "mawk", "mksh", "nawk", "nice", "node", "nodejs", "nohup", "nsenter", "perl", "php", "pwsh", "python",
	"rbash", "ruby", "script", "setpriv", "setsid", "sh", "ssh", "stdbuf", "strace", "su", "sudo", "systemd-run", "tclsh",
	"tcsh", "time", "timeout", "toybox", "unshare", "watch", "xargs", "zsh",
}

// Pattern is one entry of the allow-list: the absolute path of a program and its
// arguments, separated by blanks. In each word * stands for any characters but '/', ? for
// one, [..] for a class, as in a shell; a word that is ** at the end stands for any
// further arguments. Nothing else is special, and without ** the number of words must be
// the same.
//
// A wildcard stands for what it stands for and no more: it does not match "..", a word
// that begins with '-' unless the pattern's word does, or a program that is a shell or
// runs other programs; those must be named.
type Pattern struct {
	words []string
	any   bool // further arguments
}

// ParsePattern reads a pattern or says what is wrong with it.
func ParsePattern(text string) (Pattern, error) {
	p := Pattern{words: strings.Fields(text)}
	if len(p.words) == 0 {
		return Pattern{}, errors.New("a pattern needs a program")
	}
	if last := len(p.words) - 1; last > 0 && p.words[last] == rest {
		p.words, p.any = p.words[:last], true
	}
	for _, word := range p.words {
		if _, err := path.Match(word, ""); err != nil || strings.Contains(word, rest) {
			return Pattern{}, fmt.Errorf("%q is no pattern: %s stands alone and at the end, [ and \\ need their other halves", word, rest)
		}
	}
	if program := p.words[0]; !strings.HasPrefix(program, "/") || path.Clean(program) != program {
		return Pattern{}, fmt.Errorf("the program %q must be an absolute path that goes nowhere up", program)
	}
	return p, nil
}

// literal says whether a word of a pattern has no wildcard.
func literal(word string) bool { return !strings.ContainsAny(word, `*?[\`) }

// matches says whether a word of a pattern stands for a word.
func matches(pattern, word string) bool {
	if literal(pattern) {
		return pattern == word
	}
	if strings.HasPrefix(word, "-") && !strings.HasPrefix(pattern, "-") {
		return false // an option where a value was meant
	}
	if slices.Contains(strings.Split(strings.ReplaceAll(word, "=", "/"), "/"), "..") {
		return false
	}
	ok, err := path.Match(pattern, word)
	return ok && err == nil
}

// permits says whether the pattern stands for a program, as it was named and as it
// really is, with these arguments.
func (p Pattern) permits(named, resolved string, arguments []string) bool {
	if !matches(p.words[0], named) {
		return false
	}
	// A link out of a directory that a wildcard permits is not in it.
	if !literal(p.words[0]) && (!matches(p.words[0], resolved) || isShell(resolved)) {
		return false
	}
	if len(arguments) < len(p.words)-1 || len(arguments) > len(p.words)-1 && !p.any {
		return false
	}
	return slices.EqualFunc(p.words[1:], arguments[:len(p.words)-1], matches)
}

// isShell says whether a program is one that runs others, in any version.
func isShell(program string) bool {
	name := strings.ToLower(path.Base(program))
	name = strings.TrimRight(name, "0123456789.-")
	return slices.Contains(shells, name) || strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl")
}

// allowed finds the program of argv and says where it really is, or that no pattern
// permits it.
func allowed(patterns []Pattern, searched string, argv []string) (string, error) {
	if len(argv) == 0 || argv[0] == "" || slices.ContainsFunc(argv, func(word string) bool { return strings.ContainsRune(word, 0) }) {
		return "", ErrNotAllowed
	}
	named, err := look(searched, argv[0])
	if err != nil || !filepath.IsAbs(named) || filepath.Clean(named) != named {
		return "", ErrNotAllowed // missing, not executable, or in the working directory
	}
	resolved, err := filepath.EvalSymlinks(named)
	if err != nil {
		return "", ErrNotAllowed
	}
	for _, p := range patterns {
		if p.permits(named, resolved, argv[1:]) {
			return resolved, nil
		}
	}
	return "", ErrNotAllowed
}

// look finds a program: a path as it is, a name in the directories that are searched.
func look(searched, name string) (string, error) {
	if strings.Contains(name, "/") {
		return exec.LookPath(name)
	}
	for _, dir := range filepath.SplitList(searched) {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(found) {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}
