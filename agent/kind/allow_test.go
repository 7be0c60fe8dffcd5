package kind

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// node is a directory as an agent may find it.
func node(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, d := range []string{"bin", "data", "secret"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, d), 0o755))
	}
	for _, f := range []string{"bin/backup", "bin/restore", "secret/wipe", "bin/noexec"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, f), []byte("#!/bin/true\n"), 0o755))
	}
	require.NoError(t, os.Chmod(filepath.Join(dir, "bin/noexec"), 0o644))
	sh, err := filepath.EvalSymlinks("/bin/sh")
	require.NoError(t, err)
	for link, to := range map[string]string{"bin/innocent": sh, "bin/outside": "../secret/wipe", "bin/alias": "backup"} {
		require.NoError(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	return dir
}

func patterns(t *testing.T, texts ...string) []Pattern {
	t.Helper()
	var all []Pattern
	for _, text := range texts {
		p, err := ParsePattern(text)
		require.NoError(t, err, text)
		all = append(all, p)
	}
	return all
}

// Exec refuses what is not on the list, whatever the arguments try (issue 6).
func TestAllowed(t *testing.T) {
	t.Parallel()
	dir := node(t)
	bin := filepath.Join(dir, "bin")
	list := patterns(t,
		bin+"/backup --to "+dir+"/data/*",
		bin+"/restore --level [0-9] **",
		bin+"/* status",
		"/bin/echo **",
	)
	yes := [][]string{
		{bin + "/backup", "--to", dir + "/data/monday"},
		{"backup", "--to", dir + "/data/x.tar"},
		{bin + "/restore", "--level", "3"},
		{bin + "/restore", "--level", "3", "a", "b/c", "--force"},
		{bin + "/alias", "status"},
		{"echo", "$(reboot)", ";", "`id`"}, // words, that nobody looks into
	}
	for _, argv := range yes {
		_, err := allowed(list, bin+":/bin", argv)
		require.NoError(t, err, argv)
	}
	no := [][]string{
		nil,
		{""},
		{"/bin/sh", "-c", "reboot"},
		{"sh", "-c", "reboot"},
		{bin + "/backup"},
		{bin + "/backup", "--to"},
		{bin + "/backup", "--to", dir + "/data/a/b"},         // * is no /
		{bin + "/backup", "--to", dir + "/data/.."},          // up
		{bin + "/backup", "--to", dir + "/data/../secret/x"}, // up and down
		{bin + "/backup", "--to", dir + "/secret/x"},
		{bin + "/backup", "--to", dir + "/data/x", "--also"},
		{bin + "/backup", "--to=" + dir + "/data/x"},
		{bin + "/backup", "--to " + dir + "/data/x"}, // one word
		{bin + "/backup", "--TO", dir + "/data/x"},
		{bin + "/backup", "--to", dir + "/data/x\x00/../../etc"},
		{bin + "/backup\x00", "--to", dir + "/data/x"},
		{bin + "/../bin/backup", "--to", dir + "/data/x"},
		{bin + "//backup", "--to", dir + "/data/x"},
		{bin + "/./backup", "--to", dir + "/data/x"},
		{"../bin/backup", "--to", dir + "/data/x"},
		{"./backup", "--to", dir + "/data/x"},
		{bin + "/restore", "--level", "33"},
		{bin + "/restore", "--level", "-1"},
		{bin + "/restore", "--level"},
		{bin + "/innocent", "status"},        // a link to a shell
		{bin + "/outside", "status"},         // a link out of the directory
		{bin + "/noexec", "status"},          // cannot be run
		{bin + "/missing", "status"},         // is not there
		{dir + "/secret/wipe", "status"},     // elsewhere
		{bin + "/backup", "status", "extra"}, // more than the pattern
		{bin + "/backup", "statusx"},
		{bin + "/backup ", "status"},
		{bin, "status"}, // a directory
	}
	for _, argv := range no {
		_, err := allowed(list, bin+":/bin", argv)
		require.ErrorIs(t, err, ErrNotAllowed, "%q", argv)
	}
	require.Greater(t, len(no), 20)
}

// An option cannot be smuggled in where a value was meant, nor a path that goes up.
func TestWildcardIsAValue(t *testing.T) {
	t.Parallel()
	list := patterns(t, "/bin/echo *", "/bin/cat --file=*")
	for _, word := range []string{"-n", "--help", "..", "../x"} {
		_, err := allowed(list, "", []string{"/bin/echo", word})
		require.ErrorIs(t, err, ErrNotAllowed, word)
	}
	_, err := allowed(list, "", []string{"/bin/cat", "--file=.."})
	require.ErrorIs(t, err, ErrNotAllowed)
	_, err = allowed(list, "", []string{"/bin/cat", "--file=x"})
	require.NoError(t, err)
}

// Never through a shell unless the list says so by name.
func TestShellsAreNamed(t *testing.T) {
	t.Parallel()
	_, err := allowed(patterns(t, "/bin/* **", "/usr/bin/* **"), "/bin:/usr/bin", []string{"sh", "-c", "true"})
	require.ErrorIs(t, err, ErrNotAllowed)
	_, err = allowed(patterns(t, "/bin/sh -c true"), "/bin", []string{"sh", "-c", "true"})
	require.NoError(t, err)
	_, err = allowed(patterns(t, "/bin/sh -c true"), "/bin", []string{"sh", "-c", "true; reboot"})
	require.ErrorIs(t, err, ErrNotAllowed)
	for _, program := range []string{"/usr/bin/python3.11", "/bin/bash-5.2", "/lib64/ld-linux-x86-64.so.2", "/usr/bin/ENV"} {
		require.True(t, isShell(program), program)
	}
	require.False(t, isShell("/usr/bin/rsync"))
}

func TestParsePatternRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "   ", "echo", "./echo", "/bin/../bin/echo", "/bin/echo ** more", "/bin/echo a**", "/bin/[", "**"} {
		_, err := ParsePattern(text)
		require.Error(t, err, "%q", text)
	}
}
