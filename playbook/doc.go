// Package playbook holds the rules of seed 002: node actions with their eight states,
// what an orchestration cycle makes of what an agent reported, what it gives to which
// agent, and how a playbook moves through its stages. Pure: it is told the time, does
// no I/O and knows nothing of Temporal.
//
// A cycle visits a node in three steps, in this order: the agent's report is
// fetched, [Merge] makes the core's records agree with it, and [Decide] chooses, from
// just that, what is pushed. A push changes no state: only a later report does.
package playbook
