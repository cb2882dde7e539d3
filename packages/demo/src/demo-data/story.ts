/** A life story: what happens to one home or contact, in order of time. */
import type { Category } from '@property-events/protocol'
import type { Home } from './home.ts'
import type { Edit, Listing } from './listing.ts'
import type { PropertyBody, RemovalReason } from './market-event.ts'
import { barePropertyPayload, propertyPayload } from './property-payload.ts'

/** One step of a story: the home comes to the market, its listing is edited, it leaves the market or its branch by an edit, or it is removed. */
export type StoryStep =
  | { readonly kind: 'list'; readonly atMs: number; readonly list: (atMs: number) => Listing }
  | { readonly kind: 'edit' | 'leave'; readonly atMs: number; readonly edit: Edit }
  | { readonly kind: 'remove'; readonly atMs: number; readonly reason: RemovalReason }

export interface PropertyStory {
  readonly home: Home
  readonly category: Category
  readonly bare: boolean
  /** The first is a `list`. Moments may tie or be in disorder by a day: `updatesOf` puts each after the one before. */
  readonly steps: readonly StoryStep[]
}

/** A story whose steps may depend on when they are asked for. */
export type LazyStory = Omit<PropertyStory, 'steps'> & { readonly steps: Iterable<StoryStep> }

/** What is published about one subject at one moment. */
export interface StoryUpdate<Body> {
  readonly atMs: number
  readonly body: Body
}

/**
 * What a story publishes, from its beginning. Texts and photographs are made on demand and in order, so a story can be read
 * once only. `clock` may move moments to other times, such as now, which must not run backwards.
 */
export function* updatesOf(
  story: LazyStory,
  clock: (atMs: number) => number = (atMs) => atMs,
): Generator<StoryUpdate<PropertyBody>> {
  let listing: Listing | undefined
  let lastMs = -Infinity
  for (const step of story.steps) {
    const atMs = clock(Math.max(step.atMs, lastMs + 60_000))
    lastMs = atMs
    if (step.kind === 'remove') {
      yield { atMs, body: { remove: { agentRef: story.home.agentRef, reason: step.reason } } }
      continue
    }
    if (step.kind === 'list') listing = step.list(atMs)
    else if (listing !== undefined) listing = step.edit(listing, atMs)
    if (listing === undefined) continue
    const write = story.bare ? barePropertyPayload : propertyPayload
    yield { atMs, body: { payload: write(story.home, listing) } }
  }
}
