package secrets_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/secrets"
)

func TestRead(t *testing.T) {
	t.Setenv("GNOMON_TEST_SECRET", " s3cret\n")
	t.Setenv("GNOMON_TEST_EMPTY", " ")
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("s3cret\n"), 0o600))
	for _, from := range []secrets.Source{{File: file}, {Env: "GNOMON_TEST_SECRET"}} {
		got, err := from.Read()
		require.NoError(t, err)
		require.Equal(t, "s3cret", got)
		require.False(t, from.IsZero())
	}
	for text, from := range map[string]secrets.Source{
		"file or env must be set":                             {},
		"file and env must not both be set":                   {File: file, Env: "GNOMON_TEST_SECRET"},
		"no such file":                                        {File: file + ".gone"},
		"the environment has no variable GNOMON_TEST_NONE":    {Env: "GNOMON_TEST_NONE"},
		"the environment variable GNOMON_TEST_EMPTY is empty": {Env: "GNOMON_TEST_EMPTY"},
		"the file " + os.DevNull + " is empty":                {File: os.DevNull},
	} {
		_, err := from.Read()
		require.ErrorContains(t, err, text)
	}
}
