package starter

// Rules that a request can break beside those of package action, as they appear in
// FieldViolation.reason. They are part of the public contract.
const (
	// ruleSyntax: a filter or an order that cannot be read.
	ruleSyntax = "SYNTAX"
	// ruleTooNested: a filter with too many parentheses.
	ruleTooNested = "TOO_NESTED"
	// ruleUnknownField: no such field, parameter, or member of an object.
	ruleUnknownField = "UNKNOWN_FIELD"
	// ruleUnknownMessage: an "@type" that gnomon does not know.
	ruleUnknownMessage = "UNKNOWN_MESSAGE"
	// ruleUnknownPath: a path that an update mask cannot name.
	ruleUnknownPath = "UNKNOWN_PATH"
	// ruleUnknownState: a filter names a state that does not exist.
	ruleUnknownState = "UNKNOWN_STATE"
	// ruleUnknownKind: a filter names a kind that does not exist.
	ruleUnknownKind = "UNKNOWN_KIND"
	// ruleBadOperator: a filter compares a field in a way that it does not know.
	ruleBadOperator = "BAD_OPERATOR"
	// ruleBadValue: a value of the wrong type or form.
	ruleBadValue = "BAD_VALUE"
	// ruleRepeated: a filter compares a field twice.
	ruleRepeated = "REPEATED_FIELD"
	// ruleMalformed: a token, a header or a query that cannot be read.
	ruleMalformed = "MALFORMED"
	// ruleMalformedJSON: a body that is not JSON.
	ruleMalformedJSON = "MALFORMED_JSON"
	// ruleOtherQuery: a page token of another filter or order.
	ruleOtherQuery = "OTHER_QUERY"
	// ruleTooLarge: a body above the limit.
	ruleTooLarge = "TOO_LARGE"
	// ruleNotUTF8: text that is not UTF-8.
	ruleNotUTF8 = "NOT_UTF8"
	// ruleContradiction: two ways to say one thing that differ.
	ruleContradiction = "CONTRADICTION"
)
