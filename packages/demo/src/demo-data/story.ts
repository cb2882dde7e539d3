/** A life story: what happens to one home or contact, in order of time. */
import type { Category } from '@property-events/protocol'
import type { Home } from './home.ts'
import type { Edit, Listing } from './listing.ts'
import type { PropertyBody, RemovalReason } from './market-event.ts'
import { barePropertyPayload, propertyPayload } from './property-payload.ts'

/** One thing that happens: the home comes to the market, its listing is edited, it leaves the market or its branch by an edit, or it is removed. */
export type Happening =
  | { readonly kind: 'list'; readonly atMs: number; readonly list: (atMs: number) => Listing }
  | { readonly kind: 'edit' | 'leave'; readonly atMs: number; readonly edit: Edit }
  | { readonly kind: 'remove'; readonly atMs: number; readonly reason: RemovalReason }

export interface PropertyStory {
  readonly home: Home
  readonly category: Category
  readonly bare: boolean
  /** The first is a `list`. Moments may tie or be in disorder by a day: `tell` puts each after the one before. */
  readonly happenings: readonly Happening[]
}

/** A story whose happenings may depend on when they are asked for. */
export type ToldStory = Omit<PropertyStory, 'happenings'> & { readonly happenings: Iterable<Happening> }

/** What is published about one subject at one moment. */
export interface Chapter<Body> {
  readonly atMs: number
  readonly body: Body
}

/**
 * Tells a story from its beginning. Texts and photographs are made as they are asked for, in order, so a story may be
 * told once only. `clock` may move moments to other times, such as now, which must not run backwards.
 */
export function* tell(
  story: ToldStory,
  clock: (atMs: number) => number = (atMs) => atMs,
): Generator<Chapter<PropertyBody>> {
  let listing: Listing | undefined
  let lastMs = -Infinity
  for (const happening of story.happenings) {
    const atMs = clock(Math.max(happening.atMs, lastMs + 60_000))
    lastMs = atMs
    if (happening.kind === 'remove') {
      yield { atMs, body: { remove: { agentRef: story.home.agentRef, reason: happening.reason } } }
      continue
    }
    if (happening.kind === 'list') listing = happening.list(atMs)
    else if (listing !== undefined) listing = happening.edit(listing, atMs)
    if (listing === undefined) continue
    const write = story.bare ? barePropertyPayload : propertyPayload
    yield { atMs, body: { payload: write(story.home, listing) } }
  }
}
