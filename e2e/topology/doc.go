// Package topology brings gnomon up as docker-compose.yml has it, each part a process
// of its own, and breaks it. There is only a test.
package topology
