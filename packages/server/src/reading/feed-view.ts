/** What a key reads of a feed. No other file turns a grant into a view (D11). */
import { branchViewName } from '../events/branches/branch-view.ts'
import type { FeedView } from '../events/branches/branch-view.ts'
import type { ViewName } from '@property-events/protocol'
import type { Access } from '../http/access.ts'

/** The branches of a grant stay one object until the key changes, so their hash is computed once. */
const viewCache = new WeakMap<readonly string[], Map<ViewName, FeedView>>()

/** The events of the request's tenant that the key may see, for the requested `view`. */
export function feedViewOf({ branches }: Pick<Access, 'branches'>, view: ViewName): FeedView {
  if (branches === undefined) return view
  const views = viewCache.get(branches) ?? new Map<ViewName, FeedView>()
  viewCache.set(branches, views)
  const made = views.get(view) ?? branchViewName(branches, view)
  views.set(view, made)
  return made
}
