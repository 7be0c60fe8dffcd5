// Package outbound is how gnomon calls other sides: the HTTP client that http_request,
// http_change and webhooks share, and time limits that tell a slow other side from a
// caller that was stopped.
//
// Its errors say where and how a call went wrong and never quote header values, paths,
// queries, payloads or what the other side wrote.
package outbound
