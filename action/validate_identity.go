package action

// ValidateID returns what is wrong with the id of an action; field is the path to
// name in the violations. An id has 1 to 200 bytes of ASCII letters, digits, '-',
// '_', '.', ':' and '~', and does not start with '.' (M-06).
func ValidateID(field, id string) []Violation {
	var v violations
	v.shared().ID(field, id)
	return v
}

// ValidateLabels returns what is wrong with the labels of an action, ordered by key;
// field is the path to name in the violations. There are at most 32; keys have 1 to
// 63 bytes of lower-case ASCII letters, digits, '-', '_' and '.' and start with a
// letter; values have at most 255 bytes.
func ValidateLabels(field string, labels map[string]string) []Violation {
	var v violations
	v.shared().Labels(field, labels)
	return v
}
