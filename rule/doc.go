// Package rule has the rules that what clients send must keep whatever kind of work it is
// for: names, labels, URLs, headers, times. It is as pure as the packages of rules that
// use it.
package rule
