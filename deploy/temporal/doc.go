// Package temporal tries what the Temporal of docker-compose.yml is given with Temporal's
// own code: its configuration, its schema, the script that makes its namespace. There is
// only a test.
package temporal
