package dnsrecord_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes"
	"gnomon/changes/dnsrecord"
	"gnomon/changes/dnsrecord/bindtest"
)

// Every action and type, each one update: the serial grows by one.
func TestApply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, c := range []struct {
		change *gnomonv1.DnsRecordChange
		stands []string
	}{
		{change(t, "ADD", "new", "A", "192.0.2.9", "192.0.2.10"), []string{"300 A 192.0.2.10", "300 A 192.0.2.9"}},
		{with(change(t, "ADD", "*.new", "AAAA", "2001:db8::9"), func(c *gnomonv1.DnsRecordChange) { c.Ttl = 60 }), []string{"60 AAAA 2001:db8::9"}},
		{change(t, "ADD", "cn", "CNAME", "www.example.net"), []string{"300 CNAME www.example.net."}},
		{change(t, "ADD", "mx", "MX", "10 a.example.net.", "20 b.example.net"), []string{"300 MX 10 a.example.net.", "300 MX 20 b.example.net."}},
		{change(t, "ADD", "new", "TXT", `"a; b" "c"`, `x\"y`), []string{`300 TXT "a; b" "c"`, `300 TXT "x\"y"`}},
		{change(t, "ADD", "_sip._tcp", "SRV", "1 2 5060 sip.example.net"), []string{"300 SRV 1 2 5060 sip.example.net."}},
		{change(t, "ADD", "9", "PTR", "new.example.test"), []string{"300 PTR new.example.test."}},
		{change(t, "ADD", "new", "CAA", `0 issue "ca.example.net"`), []string{`300 CAA 0 issue "ca.example.net"`}},
		{change(t, "UPDATE", "www", "A", "192.0.2.11"), []string{"300 A 192.0.2.11"}},
		{with(change(t, "UPDATE", "www", "AAAA", "2001:db8::2"), func(c *gnomonv1.DnsRecordChange) { c.PreviousData, c.Ttl = []string{"2001:DB8:0::1"}, 77 }), []string{"77 AAAA 2001:db8::2"}},
		{change(t, "UPDATE", "alias", "CNAME", "mail.example.test"), []string{"300 CNAME mail.example.test."}},
		{change(t, "UPDATE", "@", "NS", "ns1.example.test", "ns2.example.net"), []string{"300 NS ns1.example.test.", "300 NS ns2.example.net."}},
		{with(change(t, "UPDATE", "@", "NS", "ns1.example.test"), func(c *gnomonv1.DnsRecordChange) {
			c.PreviousData = []string{"ns2.example.net", "ns1.example.test"}
		}), []string{"300 NS ns1.example.test."}},
		{change(t, "DELETE", "old", "TXT"), nil},
		{with(change(t, "DELETE", "@", "MX"), func(c *gnomonv1.DnsRecordChange) { c.PreviousData = []string{"10 mail.example.test"} }), nil},
	} {
		require.NoError(t, b.apply(t, c.change, turn()), "%v", c.change)
		require.Equal(t, c.stands, b.server.Lookup(t, c.change.GetName(), c.change.GetType().String()))
		require.EqualValues(t, i+2, b.serial(t))
		// V-11: once more, after a worker was lost.
		require.NoError(t, b.apply(t, c.change, resumed()), "%v", c.change)
		require.EqualValues(t, i+2, b.serial(t), "%v was applied twice", c.change)
	}
	sub := change(t, "ADD", "sub3", "NS", "ns1.example.net")
	require.NoError(t, b.apply(t, sub, turn()))
	require.NoError(t, b.apply(t, sub, resumed()))
	require.EqualValues(t, 17, b.serial(t))
}

// V-12: what the zone does not allow is the change's own rejection, and changes nothing.
func TestApplyIsRejected(t *testing.T) {
	t.Parallel()
	b := setup(t)
	previous := func(c *gnomonv1.DnsRecordChange) { c.PreviousData = []string{"192.0.2.77"} }
	// What these want stands, so that an earlier turn may have done it.
	stands := map[string]bool{
		"the A records of www.example.test. exist, or the name has a CNAME record":          true,
		"the TXT records of none.example.test. do not exist":                                true,
		"the AAAA records of *.wild.example.test. do not exist":                             true,
		"the A records of a.wild.example.test. are others than previous_data says, or none": true,
	}
	for text, c := range map[string]*gnomonv1.DnsRecordChange{
		"the A records of www.example.test. exist, or the name has a CNAME record":          change(t, "ADD", "www", "A", "192.0.2.1"),
		"the TXT records of alias.example.test. exist, or the name has a CNAME record":      change(t, "ADD", "alias", "TXT", "x"),
		"the CNAME records of www.example.test. cannot stand beside what the name has":      change(t, "ADD", "www", "CNAME", "mail.example.test"),
		"the A records of none.example.test. do not exist":                                  change(t, "UPDATE", "none", "A", "192.0.2.1"),
		"the TXT records of none.example.test. do not exist":                                change(t, "DELETE", "none", "TXT"),
		"the A records of mail.example.test. are others than previous_data says, or none":   with(change(t, "UPDATE", "mail", "A", "192.0.2.1"), previous),
		"the A records of ns1.example.test. are others than previous_data says, or none":    with(change(t, "DELETE", "ns1", "A"), previous),
		"the NS records of example.test. cannot be deleted":                                 change(t, "DELETE", "@", "NS"),
		"the NS records of example.test. are others than previous_data says":                with(change(t, "UPDATE", "@", "NS", "ns2.example.net"), func(c *gnomonv1.DnsRecordChange) { c.PreviousData = []string{"a.test"} }),
		"it is not the data of a record of type A":                                          change(t, "ADD", "bad", "A", "x"),
		"the A records of a.wild.example.test. are others than previous_data says, or none": with(change(t, "DELETE", "a.wild", "A"), func(c *gnomonv1.DnsRecordChange) { c.PreviousData = []string{"192.0.2.99"} }),
		"the AAAA records of *.wild.example.test. do not exist":                             change(t, "DELETE", "*.wild", "AAAA"),
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			for _, at := range []changes.Turn{turn(), resumed()} {
				if at.Resumed && stands[text] {
					continue
				}
				err := b.apply(t, c, at)
				require.True(t, changes.IsRejected(err), "%v", err)
				require.EqualError(t, err, text)
			}
		})
	}
	t.Cleanup(func() { require.EqualValues(t, 1, b.serial(t)) })
}

// A record that another client made meanwhile, even the same, is not this change's
// doing, unless an earlier turn may have made it.
func TestApplyTellsItsOwnDoing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c := change(t, "ADD", "new", "A", "192.0.2.9")
	b.server.NSUpdate(t, "update add new.example.test. 300 A 192.0.2.9")
	require.True(t, changes.IsRejected(b.apply(t, c, turn())))
	require.NoError(t, b.apply(t, c, resumed()))
	b.server.NSUpdate(t, "update add new.example.test. 300 A 192.0.2.10")
	require.True(t, changes.IsRejected(b.apply(t, c, resumed())))
	require.EqualValues(t, 3, b.serial(t))
}

// A set of the greatest size is more than a datagram takes.
func TestApplyBigSets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var data []string
	for i := range 100 {
		data = append(data, fmt.Sprintf(`"%d %s"`, i, strings.Repeat("x", 240)))
	}
	c := change(t, "ADD", "big", "TXT", data...)
	require.Empty(t, b.problems(t, subjects(c)...))
	require.NoError(t, b.apply(t, c, turn()))
	require.Len(t, b.server.Lookup(t, "big."+zone, "TXT"), 100)
	require.NoError(t, b.apply(t, c, resumed()))
	again := with(change(t, "UPDATE", "big", "TXT", data[:1]...), func(c *gnomonv1.DnsRecordChange) { c.PreviousData = data })
	require.Empty(t, b.problems(t, subjects(again)...))
	require.NoError(t, b.apply(t, again, turn()))
	require.EqualValues(t, 3, b.serial(t))
}

// V-12: a server that does not answer, or does not let us, is no rejection.
func TestApplyIsTriedAgain(t *testing.T) {
	t.Parallel()
	c := change(t, "ADD", "new", "A", "192.0.2.9")
	try := func(t *testing.T, b bundle, text string) {
		t.Helper()
		err := b.apply(t, c, turn())
		require.ErrorContains(t, err, text)
		require.False(t, changes.IsRejected(err))
	}
	t.Run("wrong secret", func(t *testing.T) {
		t.Parallel()
		try(t, setup(t, func(z *dnsrecord.Zone) { z.Key.Secret = "d3Jvbmc=" }), "answers NOTAUTH (BADSIG): check the key")
	})
	t.Run("unknown key", func(t *testing.T) {
		t.Parallel()
		try(t, setup(t, func(z *dnsrecord.Zone) { z.Key.Name = "other" }), "answers NOTAUTH (BADKEY): check the key")
	})
	t.Run("refused by policy", func(t *testing.T) {
		t.Parallel()
		s := bindtest.Start(t, bindtest.Options{Policy: `grant "` + bindtest.KeyName + `" name other.example.test. A;`})
		try(t, connect(t, s), "answers REFUSED to an update")
	})
	t.Run("stopped", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.server.Stop()
		try(t, b, "cannot be reached")
	})
	t.Run("zone of another installation", func(t *testing.T) {
		t.Parallel()
		try(t, setup(t, func(z *dnsrecord.Zone) { z.Name = "test.invalid" }), "does not serve the zone")
	})
	t.Run("caller stops", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.server.Freeze(t)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := b.Apply(ctx, changes.Batch{}, subjects(c)[0], turn())
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// V-11: the answer is lost, not the update: the next turn finds it done.
func TestApplyWhenTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	b := setup(t, func(z *dnsrecord.Zone) { z.Timeout = 200 * time.Millisecond })
	c := change(t, "UPDATE", "www", "A", "192.0.2.9")
	b.server.Freeze(t)
	err := b.apply(t, c, turn())
	require.ErrorContains(t, err, "does not answer")
	require.False(t, changes.IsRejected(err))
	b.server.Thaw()
	require.Eventually(t, func() bool { return b.serial(t) == 2 }, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, b.apply(t, c, resumed()))
	require.EqualValues(t, 2, b.serial(t))
}

// V-14: what is still under way when its turn ends is refused by the server itself.
func TestApplyThatArrivesAfterItsTurn(t *testing.T) {
	t.Parallel()
	b := setup(t, func(z *dnsrecord.Zone) { z.Timeout = 100 * time.Millisecond })
	c := change(t, "UPDATE", "www", "A", "192.0.2.9")
	now := time.Now()
	short := changes.Turn{Attempt: 1, Begun: now, Expires: now.Add(3500 * time.Millisecond)}
	b.server.Freeze(t)
	require.ErrorContains(t, b.apply(t, c, short), "does not answer")
	time.Sleep(time.Until(short.Expires)) //nolint:forbidigo // nothing but time ends a turn
	b.server.Thaw()
	require.Eventually(t, func() bool {
		return strings.Contains(b.server.Log(), "BADTIME")
	}, 10*time.Second, 20*time.Millisecond, "the server read the message")
	require.EqualValues(t, 1, b.serial(t))
	require.ErrorIs(t, b.apply(t, c, short), changes.ErrExpired)
	require.NoError(t, b.apply(t, c, resumed()))
	require.EqualValues(t, 2, b.serial(t))
}

// V-11: whatever becomes of one update and its answer on the way, the next turn ends
// with it applied once. The journal is the judge.
func TestApplyThroughALossyNetwork(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.server.Proxy(t)
	far := connect(t, b.server, func(z *dnsrecord.Zone) { z.Server = p.Address })
	lost := func(*dns.Msg) bool { return false }
	serial := b.serial(t)
	try := func(name string, w bindtest.Watch, grown uint32) {
		for _, c := range []*gnomonv1.DnsRecordChange{
			change(t, "ADD", name, "A", "192.0.2.9"), change(t, "UPDATE", name, "A", "192.0.2.10"), change(t, "DELETE", name, "A"),
		} {
			p.Watch(w)
			err := far.apply(t, c, turn())
			require.Error(t, err)
			require.False(t, changes.IsRejected(err))
			require.Equal(t, serial+grown, b.serial(t))
			p.Watch(bindtest.Watch{})
			require.NoError(t, far.apply(t, c, resumed()))
			serial++
			require.Equal(t, serial, b.serial(t))
		}
	}
	try("asked", bindtest.Watch{Asked: lost}, 0)
	try("answered", bindtest.Watch{Answered: func(_, _ *dns.Msg) bool { return false }}, 1)
	require.Len(t, b.server.Journal(t, zone), 8)
}

// V-11: the message of an earlier turn is done after the next turn has looked and
// before its own message is: the change is done.
func TestApplyMeetsItsOwnEarlierMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.server.Proxy(t)
	far := connect(t, b.server, func(z *dnsrecord.Zone) { z.Server = p.Address })
	p.Watch(bindtest.Watch{Asked: func(*dns.Msg) bool {
		b.server.NSUpdate(t, "update add new.example.test. 300 A 192.0.2.9")
		return true
	}})
	require.NoError(t, far.apply(t, change(t, "ADD", "new", "A", "192.0.2.9"), resumed()))
	require.EqualValues(t, 2, b.serial(t))
}

// An answer that is not signed by the key is nobody's word.
func TestApplyBelievesOnlyTheKey(t *testing.T) {
	t.Parallel()
	for _, code := range []int{dns.RcodeSuccess, dns.RcodeYXRrset, dns.RcodeFormatError} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		liar := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, m *dns.Msg) {
			_ = w.WriteMsg(new(dns.Msg).SetRcode(m, code))
		})}
		liar.MsgAcceptFunc = func(dns.Header) dns.MsgAcceptAction { return dns.MsgAccept }
		done := make(chan error, 1)
		go func() { done <- liar.ActivateAndServe() }()
		k, err := dnsrecord.New(dnsrecord.Config{Zones: []dnsrecord.Zone{{
			Name: zone, Server: l.Addr().String(), Key: dnsrecord.Key{Name: "k", Secret: "c2VjcmV0"},
		}}})
		require.NoError(t, err)
		err = bundle{Kind: k}.apply(t, change(t, "ADD", "new", "A", "192.0.2.9"), turn())
		require.ErrorContains(t, err, "answered "+dns.RcodeToString[code]+": the answer is not signed by the key")
		require.False(t, changes.IsRejected(err))
		require.NoError(t, liar.Shutdown())
		require.NoError(t, <-done)
	}
}
