// Package secrets reads secrets from where configurations say they are, so that no
// configuration has to hold one.
package secrets

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Source says where a secret is: in a file or in an environment variable.
type Source struct {
	// File is the path of a file that holds it, and nothing else but space round it.
	File string `yaml:"file"`
	// Env is the name of an environment variable that holds it.
	Env string `yaml:"env"`
}

// IsZero says that nothing is said.
func (s Source) IsZero() bool { return s == Source{} }

// Read reads the secret. It is not empty. An error names the file or variable, never
// what is in it.
func (s Source) Read() (string, error) {
	switch {
	case s.File != "" && s.Env != "":
		return "", errors.New("file and env must not both be set")
	case s.File != "":
		text, err := os.ReadFile(s.File)
		if err != nil {
			return "", err
		}
		return filled("file "+s.File, string(text))
	case s.Env != "":
		text, ok := os.LookupEnv(s.Env)
		if !ok {
			return "", fmt.Errorf("the environment has no variable %s", s.Env)
		}
		return filled("environment variable "+s.Env, text)
	default:
		return "", errors.New("file or env must be set")
	}
}

func filled(where, text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", fmt.Errorf("the %s is empty", where)
	}
	return text, nil
}
