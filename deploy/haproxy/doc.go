// Package haproxy runs HAProxy with the configuration of docker-compose.yml before two
// facades. There is only a test.
package haproxy
