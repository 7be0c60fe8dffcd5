// Package compose holds docker-compose.yml, the Dockerfile and the files that they mount
// to what they are for, with Compose's own parser: no Docker engine can be had on the
// machines where gnomon is built. There are only tests; deploy/haproxy and deploy/temporal
// run what those directories have, and e2e/topology runs the same parts as processes.
package compose
