// Package compose runs the services of docker-compose.yml as processes, each at an address
// of its own on the loopback network, by the file's own commands and variables. There is
// only a test.
package compose
