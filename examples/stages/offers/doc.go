// Package offers has the example stages of seed 004, for entities of the type offer:
// withdraw after 180 days, predicted price, order of photos, availability of the video.
// They serve as gnomon.v1.StageService, see the command examples/stages, and as parts of
// gnomon's own worker by the names in [Registry].
//
// What of an offer's content they read and write:
//
//	area        number, square metres
//	rooms       number
//	photos      list of {"url", "angle"}; angle is one of [Angles]
//	video       {"id"}; "available" is written
//	status      "withdrawn" is written
//	predictedPrice  number, is written
package offers
