/**
 * Views of sets of branches (D11): what a key that is limited to branches sees of a property feed. A set has three views, of all its
 * events, its sales and its lettings, each with dense ordinals of its own, so that pages and totals cost such a key what they cost any
 * other.
 */
import { hash } from 'node:crypto'
import { categories } from '@property-events/protocol/plain'
import type { Category, ViewName } from '@property-events/protocol'

/** The first 16 hex digits of a hash over the branches of the set: 64 bits, and a feed has some hundred sets at most. */
export type BranchSetId = string

/** A view of a set of branches, as it is named in the store, in entity tags and in names of segments. */
export type BranchViewName = `branches.${BranchSetId}.${ViewName}`

/** A part of a feed with dense ordinals of its own: one that everybody can list, or one of a set of branches. */
export type FeedView = ViewName | BranchViewName

/** The views that a set has. */
export const viewNames = ['all', ...categories] as const satisfies readonly ViewName[]

/** The branches of a set, each once and in one order. Branches are compared byte by byte, as they were published. */
export function branchSetOf(branches: readonly string[]): readonly string[] {
  return [...new Set(branches)].toSorted()
}

/** Equal for equal branches, in any order and with any repeats. */
export function branchSetId(branches: readonly string[]): BranchSetId {
  return hash('sha256', JSON.stringify(branchSetOf(branches))).slice(0, 16)
}

/** What a key that is limited to these branches reads in place of `view`. */
export function branchViewName(branches: readonly string[], view: ViewName): BranchViewName {
  return viewOfBranchSet(branchSetId(branches), view)
}

export function viewOfBranchSet(set: BranchSetId, view: ViewName): BranchViewName {
  return `branches.${set}.${view}`
}

const branchView = /^branches\.([0-9a-f]{16})\.(all|sales|lettings)$/

/** The set and the category of a view. `category` `undefined`: both categories, or contacts. */
export function partsOfView(view: FeedView): {
  readonly set: BranchSetId | undefined
  readonly category: Category | undefined
} {
  const [, set, name] = branchView.exec(view) ?? [undefined, undefined, view]
  return { set, category: categories.find((category) => category === name) }
}

/** The branches that a store keeps as a JSON list. */
export function storedBranches(json: string): readonly string[] {
  const list: unknown = JSON.parse(json)
  if (Array.isArray(list) && list.every((one): one is string => typeof one === 'string')) return list
  throw new Error('stored branches are not a list of texts')
}
