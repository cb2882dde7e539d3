/** What a key reads of a feed: the only place that makes a view of what it was granted (D11). */
import { branchViewName } from '../storage/storage.ts'
import type { FeedView } from '../storage/storage.ts'
import type { ViewName } from '@property-events/protocol'
import type { Access } from './exchange.ts'

/** Branches of a grant are one object for as long as the key is as it was: their hash is made once. */
const known = new WeakMap<readonly string[], Map<ViewName, FeedView>>()

/** The events of a request's tenant that it may see, where it asks for `view`. */
export function feedViewOf({ branches }: Pick<Access, 'branches'>, view: ViewName): FeedView {
  if (branches === undefined) return view
  const views = known.get(branches) ?? new Map<ViewName, FeedView>()
  known.set(branches, views)
  const made = views.get(view) ?? branchViewName(branches, view)
  views.set(view, made)
  return made
}
