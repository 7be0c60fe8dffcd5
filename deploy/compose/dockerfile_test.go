package compose

import (
	"debug/elf"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"gnomon/serve"
)

// instruction is one of a Dockerfile, and the stage that it is in, from 0.
type instruction struct {
	stage       int
	name, value string
}

// instructions are those of a Dockerfile, lines that go on joined.
func instructions(dockerfile string) (all []instruction) {
	stage, line := -1, ""
	for each := range strings.Lines(dockerfile) {
		each = strings.TrimSpace(each)
		if each == "" || strings.HasPrefix(each, "#") {
			continue
		}
		if rest, ok := strings.CutSuffix(each, `\`); ok {
			line += rest
			continue
		}
		name, value, _ := strings.Cut(line+each, " ")
		if line = ""; name == "FROM" {
			stage++
		}
		all = append(all, instruction{stage, name, strings.TrimSpace(value)})
	}
	return all
}

// final are the values of an instruction in the stage that becomes the image.
func final(all []instruction, name string) (values []string) {
	for _, i := range all {
		if i.stage == all[len(all)-1].stage && i.name == name {
			values = append(values, i.value)
		}
	}
	return values
}

// words are those of an instruction in its exec form.
func words(value string) (list []string) {
	if json.Unmarshal([]byte(value), &list) != nil {
		return nil
	}
	return list
}

// built: a pinned image builds, and what is built runs alone, not as root.
func built(all []instruction) (f found) {
	from := 0
	for _, i := range all {
		switch image := strings.Fields(i.value)[0]; {
		case i.name == "FROM" && image != "scratch" && !pinned.MatchString(image):
			f.sayf("the image %s is not pinned", image)
		case i.name == "FROM":
			from++
		case (i.name == "ARG" || i.name == "ENV") && secretName.MatchString(i.value):
			f.sayf("%s %s: a secret stays in the image", i.name, i.value)
		case i.name == "ADD":
			f.sayf("ADD takes what COPY does not")
		}
	}
	if from != 2 || !slices.Equal(final(all, "FROM"), []string{"scratch"}) {
		f.sayf("the image is not made from scratch, in two stages")
	}
	if user := final(all, "USER"); len(user) != 1 || !regexp.MustCompile(`^[1-9]\d{3,}:[1-9]\d{3,}$`).MatchString(user[0]) {
		f.sayf("the user is %v and not a number that is not root's", user)
	}
	if entry := final(all, "ENTRYPOINT"); len(entry) != 1 || !slices.Equal(words(entry[0]), []string{program}) {
		f.sayf("the entrypoint is %v", entry)
	}
	if !slices.Contains(final(all, "COPY"), "--from=build /out/gnomon "+program) {
		f.sayf("%s is not copied", program)
	}
	if build := buildCommand(all); !strings.Contains(build, "CGO_ENABLED=0 ") || !strings.Contains(build, " -trimpath ") {
		f.sayf("the binary is not static, or knows where it was built: %s", build)
	}
	return f
}

// buildCommand is what the image is built by, without what it mounts.
func buildCommand(all []instruction) string {
	for _, i := range all {
		if i.name == "RUN" && strings.Contains(i.value, "go build ") {
			return regexp.MustCompile(`--mount=\S+\s+`).ReplaceAllString(i.value, "")
		}
	}
	return ""
}

// told: starter and worker read the image's variables, its ports are theirs, and it asks
// itself how it is.
func told(all []instruction) (f found) {
	variables, reads := types.MappingWithEquals{}, map[string]*pflag.Flag{}
	for _, cmd := range []*pflag.FlagSet{serve.Starter("").Flags(), serve.Worker("").Flags()} {
		cmd.VisitAll(func(flag *pflag.Flag) {
			if match := flagVariable.FindStringSubmatch(flag.Usage); match != nil {
				reads[match[1]] = flag
			}
		})
	}
	var listens []string
	for _, line := range final(all, "ENV") {
		for pair := range strings.FieldsSeq(line) {
			name, v, _ := strings.Cut(pair, "=")
			variables[name] = &v
			if reads[name] == nil || reads[name].Value.Set(v) != nil {
				f.sayf("%s is not read by starter or worker, or not as %s", name, v)
			}
			host, port, err := net.SplitHostPort(v)
			if err != nil || host != "0.0.0.0" {
				f.sayf("%s: nobody reaches %s", name, v)
			}
			listens = append(listens, port)
		}
	}
	slices.Sort(listens)
	if exposed := strings.Fields(strings.Join(final(all, "EXPOSE"), " ")); !slices.Equal(exposed, listens) {
		f.sayf("exposed are %v and not %v", exposed, listens)
	}
	for _, check := range final(all, "HEALTHCHECK") {
		if _, exec, ok := strings.Cut(check, "CMD "); ok && len(words(exec)) > 1 && words(exec)[0] == program {
			return append(f, asksItself("Dockerfile", words(exec)[1:], variables)...)
		}
	}
	f.sayf("there is no health check of %s", program)
	return f
}

func TestDockerfile(t *testing.T) {
	t.Parallel()
	all := instructions(text(t, "Dockerfile"))
	require.Empty(t, built(all))
	require.Empty(t, told(all))
}

// The rules find what they are for.
func TestDockerfileFaults(t *testing.T) {
	t.Parallel()
	for _, fault := range []struct{ old, new, says string }{
		{"golang:1.26.8-bookworm", "golang:latest", "golang:latest is not pinned"},
		{"FROM scratch", "FROM debian:12.11", "not made from scratch"},
		{"USER 65532:65532", "USER root", "the user is [root]"},
		{"USER 65532:65532\n", "", "the user is []"},
		{`ENTRYPOINT ["/usr/bin/gnomon"]`, "ENTRYPOINT gnomon", "the entrypoint is [gnomon]"},
		{"/out/gnomon /usr/bin/gnomon", "/out/gnomon /bin/gnomon", "/usr/bin/gnomon is not copied"},
		{"CGO_ENABLED=0 ", "", "not static"},
		{"ARG VERSION=dev", "ARG GIT_TOKEN", "a secret stays"},
		{"COPY . .", "ADD . .", "ADD takes"},
		{"GNOMON_GRPC_ADDRESS=", "GNOMON_GPRC_ADDRESS=", "GNOMON_GPRC_ADDRESS is not read"},
		{"HTTP_ADDRESS=0.0.0.0:7780", "HTTP_ADDRESS=127.0.0.1:7780", "nobody reaches 127.0.0.1:7780"},
		{"EXPOSE 7700 7780 9090", "EXPOSE 7700", "exposed are [7700]"},
		{"127.0.0.1:9090/readyz", "127.0.0.1:9091/readyz", "and not http://127.0.0.1:9090/readyz"},
		{`"--timeout", "4s"`, `"--tmeout", "4s"`, "unknown flag"},
		{"HEALTHCHECK ", "LABEL ", "there is no health check"},
	} {
		t.Run(fault.new, func(t *testing.T) {
			t.Parallel()
			original := text(t, "Dockerfile")
			require.Contains(t, original, fault.old)
			all := instructions(strings.ReplaceAll(original, fault.old, fault.new))
			require.Contains(t, strings.Join(append(built(all), told(all)...), "\n"), fault.says)
		})
	}
}

// Nothing of the binary needs cgo, without which Go links statically.
func TestNothingNeedsCgo(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{range .CgoFiles}}{{$.ImportPath}} {{end}}", "./cmd/gnomon")
	list.Dir = root
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.CombinedOutput() // a package that has nothing but cgo is an error
	require.NoError(t, err, "%s", out)
	require.Empty(t, strings.TrimSpace(string(out)))
}

// imageVariable has the binary of the image built: from the ground up where nothing else
// is built without cgo, which takes minutes. `make image` sets it.
const imageVariable = "GNOMON_TEST_IMAGE"

// The Dockerfile's own command builds a binary that needs nothing beside it, and its
// health check tells a process that is ready from one that is not.
func TestImageBinary(t *testing.T) {
	t.Parallel()
	if os.Getenv(imageVariable) == "" {
		t.Skip("make image has it run")
	}
	binary := filepath.Join(t.TempDir(), "gnomon")
	line := strings.NewReplacer("/out/gnomon", binary, "${VERSION}", "of-the-test").Replace(buildCommand(instructions(text(t, "Dockerfile"))))
	build := exec.CommandContext(t.Context(), "sh", "-c", line)
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	file, err := elf.Open(binary)
	require.NoError(t, err)
	defer file.Close()
	for _, part := range file.Progs {
		require.NotEqual(t, elf.PT_INTERP, part.Type, "it is linked when it starts")
	}
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), binary, args...)
		cmd.Env = []string{"NO_COLOR=1"} // and nothing else, as in the image
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	said, err := run("version")
	require.NoError(t, err, said)
	require.Equal(t, "of-the-test", said)

	code := http.StatusOK
	process := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.WriteHeader(code)
	}))
	defer process.Close()
	test := project(t).Services["worker-1"].HealthCheck.Test
	require.Equal(t, program, test[1])
	for i := range test {
		test[i] = strings.ReplaceAll(test[i], "http://127.0.0.1:9090", process.URL)
	}
	_, err = run(test[2:]...)
	require.NoError(t, err)
	code = http.StatusServiceUnavailable
	_, err = run(test[2:]...)
	require.Error(t, err)
}

// ignored says whether .dockerignore leaves a file out, as far as its patterns here go.
func ignored(patterns []string, file string) bool {
	parts := strings.Split(file, "/")
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if base, ok := strings.CutPrefix(pattern, "**/"); ok {
			return slices.ContainsFunc(parts, func(part string) bool { ok, _ := path.Match(base, part); return ok })
		}
		for n := range parts {
			if ok, _ := path.Match(pattern, strings.Join(parts[:n+1], "/")); ok {
				return true
			}
		}
		return false
	})
}

// What the binary is built from gets to the build, and what must not does not.
func TestDockerignore(t *testing.T) {
	t.Parallel()
	var patterns []string
	for line := range strings.Lines(text(t, ".dockerignore")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			require.NotContains(t, line, "!", "this test does not know exceptions")
			patterns = append(patterns, line)
		}
	}
	for _, file := range []string{".env", ".env.example", ".git/config", ".gnomon/gnomon.db", "bin/gnomon", "replay/testdata/a.json", "e2e/e2e.test"} {
		require.True(t, ignored(patterns, file), file)
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		`{{with .Module}}{{if .Main}}{{range $.GoFiles}}{{$.ImportPath}}/{{.}}{{"\n"}}{{end}}{{range $.EmbedFiles}}{{$.ImportPath}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, "./cmd/gnomon")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	files := strings.Fields(string(out))
	require.Contains(t, files, "gnomon/cmd/gnomon/main.go")
	require.Greater(t, len(files), 300)
	for _, file := range append(files, "gnomon/go.mod", "gnomon/go.sum") {
		require.False(t, ignored(patterns, strings.TrimPrefix(file, "gnomon/")), file)
	}
}
