// Package compose loads docker-compose.yml by Compose's own parser, for tests. Its own hold
// the file, the Dockerfile and what they mount to what they are for: no Docker engine can be
// had on the machines where gnomon is built. deploy/haproxy and deploy/temporal run what
// those directories have, e2e/compose runs the file's services as processes.
package compose
