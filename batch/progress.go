package batch

import (
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// progressParts is in how many parts a round tells of its progress: enough for a person
// who looks, while each costs the workflow four events.
const progressParts = 20

// WorthTelling says whether a round that has finished so many changes of all should tell
// of it, if those that had been finished when it told last, or began, were told.
func WorthTelling(finished, told, all uint32) bool {
	return finished >= told+max(1, (all+progressParts-1)/progressParts)
}

// Further is the progress to show of a batch: what was heard, if it is of the round under
// way and no less than what is known. A worker that was given up may tell of what was.
func Further(s *workflowv1.BatchState, known, heard *workflowv1.BatchProgress) *workflowv1.BatchProgress {
	if !ofRound(s, heard) || ofRound(s, known) && finishedBy(heard) < finishedBy(known) {
		return known
	}
	return heard
}

// ofRound says whether p tells of the round under way.
func ofRound(s *workflowv1.BatchState, p *workflowv1.BatchProgress) bool {
	st := s.GetHead().GetStatus()
	return st.GetState() == gnomonv1.BatchStatus_PROCESSING && p.GetRound() == st.GetRound()
}

func finishedBy(p *workflowv1.BatchProgress) uint32 {
	return p.GetCompleteChanges() + p.GetFailedChanges()
}
