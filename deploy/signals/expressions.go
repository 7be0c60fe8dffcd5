package signals

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
)

// Alert is one rule of prometheus/alerts.yml.
type Alert struct {
	Name        string            `yaml:"alert"`
	Expression  string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// Alerts are the rules in a directory such as deploy, in their order.
func Alerts(directory string) ([]Alert, error) {
	var rules struct {
		Groups []struct {
			Rules []Alert `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := read(filepath.Join(directory, "prometheus", "alerts.yml"), &rules, yaml.Unmarshal); err != nil {
		return nil, err
	}
	var all []Alert
	for _, group := range rules.Groups {
		all = append(all, group.Rules...)
	}
	return all, nil
}

// Jobs are the names of what Prometheus scrapes, with the targets of each.
func Jobs(directory string) (map[string][]string, error) {
	var config struct {
		Jobs []struct {
			Name   string `yaml:"job_name"`
			Static []struct {
				Targets []string `yaml:"targets"`
			} `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	if err := read(filepath.Join(directory, "prometheus", "prometheus.yml"), &config, yaml.Unmarshal); err != nil {
		return nil, err
	}
	jobs := map[string][]string{}
	for _, job := range config.Jobs {
		for _, static := range job.Static {
			jobs[job.Name] = append(jobs[job.Name], static.Targets...)
		}
	}
	return jobs, nil
}

// Expression is PromQL that asks for metrics, and where it stands.
type Expression struct {
	Where, PromQL string
}

// Panel is what a dashboard has of a panel.
type Panel struct {
	ID      int    `json:"id"`
	Type    string `json:"type"`
	Title   string `json:"title"`
	Targets []struct {
		Expression string `json:"expr"`
		Legend     string `json:"legendFormat"`
	} `json:"targets"`
	Panels []Panel `json:"panels"`
}

// Dashboards are the panels of each dashboard, by its file.
func Dashboards(directory string) (map[string][]Panel, error) {
	names, err := filepath.Glob(filepath.Join(directory, "grafana", "dashboards", "*.json"))
	if err != nil {
		return nil, err
	}
	all := map[string][]Panel{}
	for _, name := range names {
		var board struct {
			Panels []Panel `json:"panels"`
		}
		if err := read(name, &board, json.Unmarshal); err != nil {
			return nil, err
		}
		all[filepath.Base(name)] = board.Panels
	}
	return all, nil
}

// Expressions are all of alerts and dashboards, Grafana's variables filled in.
func Expressions(directory string) ([]Expression, error) {
	alerts, err := Alerts(directory)
	if err != nil {
		return nil, err
	}
	boards, err := Dashboards(directory)
	if err != nil {
		return nil, err
	}
	var all []Expression
	for _, a := range alerts {
		all = append(all, Expression{Where: a.Name, PromQL: a.Expression})
	}
	filled := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*")
	for name, panels := range boards {
		for _, p := range panels {
			for _, target := range p.Targets {
				all = append(all, Expression{Where: name + ": " + p.Title, PromQL: filled.Replace(target.Expression)})
			}
		}
	}
	return all, nil
}

func read(name string, into any, decode func([]byte, any) error) error {
	body, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := decode(body, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
