package action

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryEmbeddedZoneLoads(t *testing.T) {
	t.Parallel()
	require.Greater(t, len(zones), 400)
	for name := range zones {
		zone, err := Location(name)
		require.NoError(t, err)
		require.Equal(t, name, zone.String())
	}
}

func TestLocationKnowsUTCWithoutData(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "UTC"} {
		zone, err := Location(name)
		require.NoError(t, err)
		require.Equal(t, time.UTC, zone)
	}
}

// "Local" would be another zone on every worker; the system's files are not read.
func TestLocationRefusesWhatIsNotEmbedded(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Local", "europe/amsterdam", "Europe", "Europe/", "/etc/localtime", "../zoneinfo/UTC", "Moon/Tycho", "CET-1CEST"} {
		_, err := Location(name)
		require.Error(t, err, name)
	}
}

// The system's database, which ZONEINFO names first, must not change a result.
func TestLocationIgnoresTheSystem(t *testing.T) {
	t.Setenv("ZONEINFO", t.TempDir())
	zone, err := Location("Europe/Amsterdam")
	require.NoError(t, err)
	_, offset := time.Date(2026, 7, 1, 0, 0, 0, 0, zone).Zone()
	require.Equal(t, 7200, offset)
}
