package openapi_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/api/openapi"
)

func TestDocumentOfSeveralServices(t *testing.T) {
	t.Parallel()
	text, err := openapi.Document(openapi.Actions, openapi.Batches)
	require.NoError(t, err)
	var d struct {
		OpenAPI    string         `json:"openapi"`
		Paths      map[string]any `json:"paths"`
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
		Tags []any `json:"tags"`
	}
	require.NoError(t, json.Unmarshal(text, &d))
	require.Equal(t, "3.1.0", d.OpenAPI)
	require.Contains(t, d.Paths, "/v1/actions")
	require.Contains(t, d.Paths, "/v1/batches/{id}:review")
	require.Contains(t, d.Components.Schemas, "gnomon.v1.ScheduledAction")
	require.Contains(t, d.Components.Schemas, "gnomon.v1.Batch")
	require.Len(t, d.Tags, 2)
}

func TestDocumentsThatAreNone(t *testing.T) {
	t.Parallel()
	_, err := openapi.Document()
	require.Error(t, err)
	_, err = openapi.Document("nothing")
	require.Error(t, err)
}
