// Package openapi holds the OpenAPI 3.1 document of gnomon's REST interface, which
// buf generates from the protos beside it.
package openapi

import _ "embed"

// ActionService is the document of gnomon.v1.ActionService, as JSON.
//
//go:embed gnomon/v1/action_service.openapi.json
var ActionService []byte
