package main

// changingRecords are the tests of dns_record. They start name servers, which they have
// to stop.
var changingRecords = []target{{pkg: "./changes/dnsrecord", whole: true}}

// ofRecords are bugs in how records are judged and changed: changes/dnsrecord.
var ofRecords = []mutant{
	{
		name: "add-without-prerequisite", requirement: "V-11", tests: changingRecords,
		why:   "what another client made meanwhile is added to instead of refused",
		edits: alone("changes/dnsrecord/update.go", "\t\t\tm.RRsetNotUsed(one)\n", ""),
	},
	{
		name: "add-beside-a-cname", requirement: "V-12", tests: changingRecords,
		why: "the server drops the record silently and the change counts as done",
		edits: alone("changes/dnsrecord/update.go",
			"\t\t\tm.RRsetNotUsed([]dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: c.Name, Rrtype: dns.TypeCNAME}}})\n", ""),
	},
	{
		name: "previous-data-ignored", requirement: "V-07", tests: changingRecords,
		why:   "what another client wrote meanwhile is overwritten",
		edits: alone("changes/dnsrecord/update.go", "\tif len(c.Previous) > 0 {\n", "\tif len(c.Previous) > 100 {\n"),
	},
	{
		name: "signature-outlives-the-turn", requirement: "V-14", tests: changingRecords,
		why:   "a worker that stalled applies after its successor has",
		edits: alone("changes/dnsrecord/apply.go", "c.zone.sign(m, t.Begun, fudge)", "c.zone.sign(m, t.Begun, max(fudge, 300))"),
	},
	{
		name: "signed-when-sent", requirement: "V-14", tests: changingRecords,
		why:   "the signature is valid for a whole turn from whenever a stalled worker wakes up",
		edits: alone("changes/dnsrecord/update.go", "\tseconds := last - t.Begun.Unix()\n", "\tseconds := last - t.Begun.Unix() + 5\n"),
	},
	{
		name: "resumed-change-rejected", requirement: "V-11", tests: changingRecords,
		why:   "a change that a lost worker's last message applied counts as failed",
		edits: alone("changes/dnsrecord/apply.go", "\tif t.Resumed {\n\t\tstanding, err := c.zone.standing", "\tif false {\n\t\tstanding, err := c.zone.standing"),
	},
	{
		name: "refused-is-final", requirement: "V-12", tests: changingRecords,
		why:   "a key whose rights were lost for a night fails every change for good",
		edits: alone("changes/dnsrecord/apply.go", "case dns.RcodeFormatError, dns.RcodeNotZone:", "case dns.RcodeFormatError, dns.RcodeNotZone, dns.RcodeRefused:"),
	},
	{
		name: "unsigned-answers-believed", requirement: "V-12", tests: changingRecords,
		why:   "whoever answers first decides what became of a change",
		edits: alone("changes/dnsrecord/exchange.go", "case signed && r.IsTsig() == nil:", "case false:"),
	},
	{
		name: "wildcards-taken-for-records", requirement: "V-03", tests: changingRecords,
		why:   "a name below a wildcard can never be added",
		edits: alone("changes/dnsrecord/wildcard.go", "\t\tif !exists {\n", "\t\tif !exists && false {\n"),
	},
	{
		name: "in-doubt-is-judged", requirement: "V-16", tests: changingRecords,
		why:   "a batch whose worker was lost goes to review for what it did itself",
		edits: alone("changes/dnsrecord/validate.go", "if !s.InDoubt || !z.done(s.Change, w.at(s.Name).sets[s.Type]) {", "if !s.InDoubt || z.done(s.Change, w.at(s.Name).sets[s.Type]) {"),
	},
	{
		name: "batch-judged-against-the-zone-alone", requirement: "V-03", tests: changingRecords,
		why:   "an alias cannot become a host in one batch",
		edits: alone("changes/dnsrecord/validate.go", "\t\tw.apply(s)\n", ""),
	},
}
