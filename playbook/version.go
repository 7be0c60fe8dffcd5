package playbook

import workflowv1 "gnomon/api/gnomon/workflow/v1"

// Version is that of the rules of clusters and playbooks, carried by every new one; see
// life.Version for what it is for.
//
//	1: the first rules
const Version uint32 = 1

// New is the state of a cluster that is begun.
func New(cluster string) *workflowv1.ClusterState {
	return &workflowv1.ClusterState{Cluster: cluster, Version: Version}
}
