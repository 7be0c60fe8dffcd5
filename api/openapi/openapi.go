// Package openapi holds the OpenAPI 3.1 documents of gnomon's REST interface, which buf
// generates from the protos beside it, one for each service.
package openapi

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
)

// Names of documents.
const (
	Actions   = "action_service"
	Batches   = "batch_service"
	Clusters  = "cluster_service"
	Playbooks = "playbook_service"
	Entities  = "entity_service"
)

//go:embed gnomon/v1/*.openapi.json
var documents embed.FS

// document is one, as far as documents have to be understood to be put together.
type document struct {
	OpenAPI    string                     `json:"openapi"`
	Info       json.RawMessage            `json:"info"`
	Paths      map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
	Tags []json.RawMessage `json:"tags"`
}

// title is the info of a document of several services.
const title = `{"title": "gnomon", "version": "1.0.0"}`

// Document is the document of several services, as JSON. Schemas that they have in common
// are the same, as they are generated from the same messages.
func Document(names ...string) ([]byte, error) {
	all := document{Info: json.RawMessage(title), Paths: map[string]json.RawMessage{}}
	all.Components.Schemas = map[string]json.RawMessage{}
	if len(names) == 0 {
		return nil, errors.New("openapi: a document of no service")
	}
	for _, name := range names {
		text, err := documents.ReadFile("gnomon/v1/" + name + ".openapi.json")
		if err != nil {
			return nil, fmt.Errorf("openapi: %w", err)
		}
		var one document
		if err := json.Unmarshal(text, &one); err != nil {
			return nil, fmt.Errorf("openapi: %s: %w", name, err)
		}
		all.OpenAPI = one.OpenAPI
		maps.Copy(all.Paths, one.Paths)
		maps.Copy(all.Components.Schemas, one.Components.Schemas)
		all.Tags = append(all.Tags, one.Tags...)
	}
	return json.MarshalIndent(all, "", "  ")
}
