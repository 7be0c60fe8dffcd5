package stages_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/outbound/tlstest"
	"gnomon/stages"
)

// The file that docs/stages.md shows is one, and says what the page says.
func TestDocumentedFile(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/stages.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, block)
	of := tlstest.New(t, "price.test")
	text := strings.NewReplacer("client-key.pem", of.KeyFile, "client.pem", of.CertFile, "ca.pem", of.CertFile).Replace(string(block[1]))
	set, err := stages.Load(written(t, text), stages.Registry{"withdraw": asked{}}, quiet())
	require.NoError(t, err)
	defer func() { require.NoError(t, set.Close()) }()
	require.Equal(t, []string{"area", "rooms"}, set.Named("predicted-price").Fields)
	require.Equal(t, "withdraw", set.Named("withdraw").Go)
	require.Equal(t, stages.DefaultProcessTimeout, set.Named("withdraw").ProcessTimeout)
}
