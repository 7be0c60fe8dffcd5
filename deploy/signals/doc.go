// Package signals reads the alerts of Prometheus and the dashboards of Grafana, which
// are files in the directories beside it, for the tests of what they ask for. It is in no
// program.
package signals
