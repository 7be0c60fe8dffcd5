package playbook

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/rule"
)

// Limits of the contract.
const (
	MaxStages = 100
	// MaxNodes is how many nodes a cluster and a stage may have: what their workflows
	// carry is one payload of at most 2 MiB.
	MaxNodes      = 2_000
	MaxVariables  = 64
	MaxPlaybookID = 100
	MaxNodeName   = 90
	MaxName       = 63
	MaxWords      = 256
	MaxExecBytes  = 32 << 10
	MaxOutput     = 64 << 10
	MaxWho        = 256
	MaxReason     = 1 << 10
	// MaxTimeout bounds one action, MaxStageTimeout one stage.
	MaxTimeout      = 24 * time.Hour
	MaxStageTimeout = 365 * 24 * time.Hour
	// MaxBytes is the greatest size of a playbook as JSON.
	MaxBytes = 256 << 10
	// MaxStatusBytes bounds what a playbook's status says of its actions, those of all
	// stages together, as JSON: with the definition it stays well below Temporal's 2 MiB.
	MaxStatusBytes = 1 << 20
)

// ValidateAction returns all that is wrong with a node action that a caller sent, in
// the order of the contract's fields. An empty id is no violation: one is minted.
func ValidateAction(a *gnomonv1.NodeAction) []rule.Violation {
	var v rule.Violations
	if a.GetId() != "" {
		v.ID("id", a.GetId())
	}
	nodeName(&v, "node", a.GetNode())
	work(&v, a.GetExec(), a.GetHttpRequest(), "", nil)
	v.Labels("labels", a.GetLabels())
	who(&v, "requested_by", a.GetRequestedBy())
	return v
}

// ValidateNode returns all that is wrong with a node that is to be registered.
func ValidateNode(n *gnomonv1.Node) []rule.Violation {
	var v rule.Violations
	nodeName(&v, "name", n.GetName())
	v.Labels("labels", n.GetLabels())
	return v
}

// ValidateCluster returns what is wrong with the name of a cluster.
func ValidateCluster(field, id string) []rule.Violation {
	var v rule.Violations
	name(&v, field, id, MaxName, false)
	return v
}

// Validate returns all that is wrong with a playbook, all stages' problems at once.
func Validate(p *gnomonv1.Playbook) []rule.Violation {
	var v rule.Violations
	v.ID("id", p.GetId())
	if len(p.GetId()) > MaxPlaybookID {
		v.Add("id", rule.TooLong, "id is %d bytes long, at most %d are allowed", len(p.GetId()), MaxPlaybookID)
	}
	name(&v, "cluster", p.GetCluster(), MaxName, false)
	variables(&v, p.GetVariables())
	switch n := len(p.GetStages()); {
	case n == 0:
		v.Add("stages", rule.Required, "a playbook needs a stage")
	case n > MaxStages:
		v.Add("stages", rule.TooMany, "there are %d stages, at most %d are allowed", n, MaxStages)
	}
	seen := map[string]bool{}
	for i, stage := range p.GetStages() {
		field := fmt.Sprintf("stages[%d]", i)
		validateStage(&v, field, stage, p.GetVariables())
		if seen[stage.GetName()] {
			v.Add(field+".name", rule.Duplicate, "two stages have this name")
		}
		seen[stage.GetName()] = true
	}
	v.Labels("labels", p.GetLabels())
	who(&v, "requested_by", p.GetRequestedBy())
	text, err := protojson.Marshal(p)
	switch {
	case err != nil:
		v.Add("stages", rule.InvalidCharacter, "the playbook is not all UTF-8")
	case len(text) > MaxBytes:
		v.Add("stages", rule.TooLong, "the playbook is %d bytes as JSON, at most %d are allowed", len(text), MaxBytes)
	}
	size := 0
	for i, stage := range p.GetStages() {
		size += statusBytes(p.GetId(), i, stage.GetNodes())
	}
	if size > MaxStatusBytes {
		v.Add("stages", rule.TooMany, "the status of all their actions would be %d bytes, at most %d are allowed: use fewer nodes or stages in one playbook", size, MaxStatusBytes)
	}
	return v
}

// statusBytes is what the actions of a stage take in the playbook's status at most.
func statusBytes(id string, stage int, nodes []string) int {
	const around = len(`{"id": "", "node": "", "state": "PENDING_SCHEDULE"}, `)
	size := 0
	for _, node := range nodes {
		size += around + len(ActionID(id, stage, node)) + len(node)
	}
	return size
}

func validateStage(v *rule.Violations, field string, stage *gnomonv1.PlaybookStage, declared map[string]string) {
	name(v, field+".name", stage.GetName(), MaxName, false)
	ways := 0
	for _, given := range []bool{len(stage.GetNodes()) > 0, len(stage.GetNodeLabels()) > 0, stage.GetAllNodes()} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		v.Add(field, rule.Required, "exactly one of nodes, node_labels and all_nodes must be set")
	}
	if len(stage.GetNodes()) > MaxNodes {
		v.Add(field+".nodes", rule.TooMany, "there are %d nodes, at most %d are allowed", len(stage.GetNodes()), MaxNodes)
	}
	seen := map[string]bool{}
	for i, node := range stage.GetNodes() {
		at := fmt.Sprintf("%s.nodes[%d]", field, i)
		nodeName(v, at, node)
		if seen[node] {
			v.Add(at, rule.Duplicate, "the stage names this node twice")
		}
		seen[node] = true
	}
	v.Labels(field+".node_labels", stage.GetNodeLabels())
	work(v, stage.GetExec(), stage.GetHttpRequest(), field+".", func(at, template string) { templated(v, at, template, declared) })
	if _, known := gnomonv1.PlaybookStage_OnFailure_name[int32(stage.GetOnFailure())]; !known {
		v.Add(field+".on_failure", rule.Unsupported, "on_failure must be STOP or CONTINUE")
	}
	if stage.GetTimeout() != nil {
		v.Duration(field+".timeout", stage.GetTimeout(), 0, MaxStageTimeout)
	}
}

// work checks what is to be performed. Where it is a template, each of its texts is given
// to template.
func work(v *rule.Violations, exec *gnomonv1.ExecAction, request *gnomonv1.HttpRequest, prefix string, template func(field, text string)) {
	each := func(field, text string) {
		if template != nil {
			template(field, text)
		}
	}
	switch {
	case exec != nil:
		validateExec(v, prefix+"exec", exec, each)
	case request != nil:
		validateRequest(v, prefix+"http_request", request, template != nil, each)
	default:
		v.Add(orField(prefix, "action"), rule.Required, "exactly one of exec and http_request must be set")
	}
}

func orField(prefix, otherwise string) string {
	if prefix == "" {
		return otherwise
	}
	return prefix[:len(prefix)-1]
}

func validateExec(v *rule.Violations, field string, exec *gnomonv1.ExecAction, each func(field, text string)) {
	switch n := len(exec.GetArgv()); {
	case n == 0 || exec.GetArgv()[0] == "":
		v.Add(field+".argv", rule.Required, "argv needs a program")
	case n > MaxWords:
		v.Add(field+".argv", rule.TooMany, "argv has %d words, at most %d are allowed", n, MaxWords)
	}
	size := 0
	for i, word := range exec.GetArgv() {
		at := fmt.Sprintf("%s.argv[%d]", field, i)
		size += len(word)
		noNUL(v, at, word)
		each(at, word)
	}
	for _, variable := range sorted(exec.GetEnvironment()) {
		at := fmt.Sprintf("%s.environment[%q]", field, variable)
		value := exec.GetEnvironment()[variable]
		size += len(variable) + len(value)
		if !isName(variable) {
			v.Add(at, rule.InvalidCharacter, "the name of a variable has letters, digits and '_' and does not begin with a digit")
		}
		noNUL(v, at, value)
		each(at, value)
	}
	if len(exec.GetEnvironment()) > MaxVariables {
		v.Add(field+".environment", rule.TooMany, "there are %d variables, at most %d are allowed", len(exec.GetEnvironment()), MaxVariables)
	}
	if size > MaxExecBytes {
		v.Add(field, rule.TooLong, "argv and environment are %d bytes together, at most %d are allowed", size, MaxExecBytes)
	}
	if dir := exec.GetWorkingDirectory(); dir != "" {
		noNUL(v, field+".working_directory", dir)
		each(field+".working_directory", dir)
		if dir[0] != '/' && dir[0] != '$' {
			v.Add(field+".working_directory", rule.InvalidCharacter, "working_directory must be an absolute path")
		}
	}
	if exec.GetTimeout() != nil {
		v.Duration(field+".timeout", exec.GetTimeout(), 0, MaxTimeout)
	}
	if exec.GetOutputLimit() > MaxOutput {
		v.Add(field+".output_limit", rule.OutOfRange, "output_limit is %d, at most %d is allowed", exec.GetOutputLimit(), MaxOutput)
	}
}

func validateRequest(v *rule.Violations, field string, request *gnomonv1.HttpRequest, template bool, each func(field, text string)) {
	if template {
		// What the values make of it is checked by the agent when they are known.
		each(field+".url", request.GetUrl())
		each(field+".body", string(request.GetBody()))
	}
	url := request.GetUrl()
	if template {
		url, _ = walk(url, func(string) string { return "x" })
	}
	if url != "" || request.GetUrl() == "" { // a broken template was told above
		v.URL(field+".url", url)
	}
	v.Headers(field+".headers", request.GetHeaders())
	for _, header := range sorted(request.GetHeaders()) {
		each(fmt.Sprintf("%s.headers[%q]", field, header), request.GetHeaders()[header])
	}
	if request.GetTimeout() != nil {
		v.Duration(field+".timeout", request.GetTimeout(), 0, 10*time.Minute)
	}
}

// templated checks that a template names only what is declared or built in.
func templated(v *rule.Violations, field, template string, declared map[string]string) {
	used, err := names(template)
	if err != nil {
		v.Add(field, rule.InvalidCharacter, "%s", err)
		return
	}
	for _, one := range used {
		if _, ok := declared[one]; !ok && !slices.Contains(builtIn, one) {
			v.Add(field, rule.Unsupported, "${%s} is no variable of the playbook", one)
		}
	}
}

func variables(v *rule.Violations, declared map[string]string) {
	if len(declared) > MaxVariables {
		v.Add("variables", rule.TooMany, "there are %d variables, at most %d are allowed", len(declared), MaxVariables)
	}
	for _, one := range sorted(declared) {
		field := fmt.Sprintf("variables[%q]", one)
		switch {
		case !isName(one):
			v.Add(field, rule.InvalidCharacter, "the name of a variable has letters, digits and '_' and does not begin with a digit")
		case slices.Contains(builtIn, one):
			v.Add(field, rule.Reserved, "%s is there already", one)
		}
		noNUL(v, field, declared[one])
	}
}

// sorted makes the order the same in every run. The checker sees the walk over the map and
// not that its result is sorted.
//
//workflowcheck:ignore
func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func noNUL(v *rule.Violations, field, text string) {
	for _, r := range text {
		if r == 0 {
			v.Add(field, rule.InvalidCharacter, "no NUL is allowed")
			return
		}
	}
}

func who(v *rule.Violations, field, text string) {
	if len(text) > MaxWho {
		v.Add(field, rule.TooLong, "%s is %d bytes long, at most %d are allowed", rule.LastName(field), len(text), MaxWho)
	}
}

func nodeName(v *rule.Violations, field, text string) { name(v, field, text, MaxNodeName, true) }

// name checks a name of lower-case letters, digits and '-', and '.' where it may have
// dots, that begins and ends with a letter or digit.
func name(v *rule.Violations, field, text string, most int, dots bool) {
	inner := func(c byte) bool { return c == '-' || dots && c == '.' }
	switch {
	case text == "":
		v.Add(field, rule.Required, "%s must be set", rule.LastName(field))
		return
	case len(text) > most:
		v.Add(field, rule.TooLong, "%s is %d bytes long, at most %d are allowed", rule.LastName(field), len(text), most)
		return
	}
	for i := range len(text) {
		c := text[i]
		alphanumeric := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !alphanumeric && (!inner(c) || i == 0 || i == len(text)-1) {
			v.Add(field, rule.InvalidCharacter, "%s has lower-case letters, digits and '-' and begins and ends with a letter or digit", rule.LastName(field))
			return
		}
	}
}
