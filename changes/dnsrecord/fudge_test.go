package dnsrecord

import (
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch/records"
	"gnomon/changes"
	"gnomon/changes/dnsrecord/bindtest"
)

// V-14: a worker that was stopped between its last look at the clock and its write
// sends a message that the server refuses: here the turn ended a moment ago.
func TestTheServerRefusesWhatIsSentLate(t *testing.T) {
	t.Parallel()
	s := bindtest.Start(t, bindtest.Options{})
	z, err := Zone{
		Name: "example.test", Server: s.Address(),
		Key: Key{Name: bindtest.KeyName, Algorithm: s.Algorithm, Secret: s.Secret},
	}.normalised()
	require.NoError(t, err)
	parsed, problems := records.Parse(&gnomonv1.DnsRecordChange{
		Action: gnomonv1.DnsRecordChange_ADD, Name: "new.example.test", Type: gnomonv1.DnsRecordChange_A, Data: []string{"192.0.2.9"},
	})
	require.Empty(t, problems)
	send := func(begun time.Time, fudge uint16) (*dns.Msg, error) {
		m := z.message(parsed, nil)
		z.sign(m, begun, fudge)
		c, err := dial(t.Context(), z)
		require.NoError(t, err)
		defer c.close()
		return c.exchange(t.Context(), m)
	}
	r, err := send(time.Now().Add(-10*time.Second), 8)
	require.Error(t, err)
	require.Equal(t, "NOTAUTH (BADTIME)", rcode(r))
	require.EqualValues(t, 1, s.Serial(t, "example.test"))

	r, err = send(time.Now().Add(-10*time.Second), 60)
	require.NoError(t, err)
	require.Equal(t, "NOERROR", rcode(r))
	require.EqualValues(t, 2, s.Serial(t, "example.test"))
}

// The signature ends before the turn, whatever the parts of a second, and by ClockSkew
// earlier.
func TestFudge(t *testing.T) {
	t.Parallel()
	at := func(begun, expires time.Duration) changes.Turn {
		now := time.Now().Truncate(time.Second)
		return changes.Turn{Begun: now.Add(begun), Expires: now.Add(expires)}
	}
	for _, c := range []struct {
		turn  changes.Turn
		skew  time.Duration
		fudge uint16
	}{
		{at(0, 60*time.Second), time.Second, 58},
		{at(0, 60*time.Second), 10 * time.Second, 49},
		{at(-999*time.Millisecond, 60500*time.Millisecond), time.Second, 59},
		{at(0, 60900*time.Millisecond), time.Second, 58},
		{at(0, 100*time.Hour), time.Second, 65535},
		{at(0, 2*time.Second), time.Second, 0},
		{at(-time.Minute, 0), time.Second, 0},
		{at(0, -time.Minute), time.Second, 0},
	} {
		fudge, ok := Zone{ClockSkew: c.skew}.fudge(c.turn)
		require.Equal(t, c.fudge, fudge, "%+v", c)
		require.Equal(t, c.fudge > 0, ok, "%+v", c)
		last := c.turn.Begun.Unix() + int64(fudge)
		require.True(t, !ok || !time.Unix(last+1, 0).After(c.turn.Expires.Add(-c.skew)))
	}
}
