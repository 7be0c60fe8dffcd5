// Package httpchange is the kind of change http_change: anything that a service judges
// and does when it is asked over HTTP, as gnomon.v1.HttpChange describes.
//
// Redirects are not followed: a change goes to the service that was named, or nowhere.
// Time limits, connections and the texts of errors are those of package outbound.
//
// # What is promised to the service
//
// A request to apply_url may come more than once, with the same Idempotency-Key each
// time, never two at once. The header Gnomon-Expires says when the turn ends to which a
// request belongs. gnomon looks at the clock right before it sends; a process that is
// stopped in the very moment after that, for longer than the turn, sends late. A service
// that must exclude even this refuses requests whose Gnomon-Expires has passed.
package httpchange
