// The stage itself: it evolves an offer to the present version of the catalogue (seed
// 004, example 2). It is pure, as all stages must be: the same offer has the same answer,
// however often it is asked about.

import type { JsonObject } from './struct.js'

/** The version of the catalogue that offers are evolved to. */
export const VERSION = 2

/** What became of the categories of version 1. */
const CATEGORIES: ReadonlyMap<string, string> = new Map([
  ['flat', 'apartment'],
  ['room', 'apartment/room'],
  ['cottage', 'house'],
])

/** What a visit makes of an offer. */
export interface Evolved {
  /** A JSON merge patch (RFC 7396) to the content, if there is anything to change. */
  patch?: JsonObject
  /** The stage's new state: the version that the offer came from. */
  state?: string
}

/** Whether an offer is of an older version. One that says nothing is of version 1. */
export function shouldProcess(content: JsonObject): boolean {
  return versionOf(content) < VERSION
}

/** Evolves an offer. It may be visited without having been asked about, so it checks. */
export function process(content: JsonObject): Evolved {
  if (!shouldProcess(content)) {
    return {}
  }
  const patch: JsonObject = { catalogueVersion: VERSION }
  const { category } = content
  const now = typeof category === 'string' ? CATEGORIES.get(category) : undefined
  if (now !== undefined) {
    patch['category'] = now
  }
  return { patch, state: String(versionOf(content)) }
}

function versionOf(content: JsonObject): number {
  const version = content['catalogueVersion']
  return typeof version === 'number' ? version : 1
}
