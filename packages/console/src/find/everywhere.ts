/** Looking through all agencies: call after call, each of which the service bounds, until there is enough to choose from. */
import { places } from '../base.ts'
import type { FoundThing } from '@property-events/protocol/wire'
import { findAnywhere } from '../service/operations/tenants.ts'
import type { Trouble } from '../service/trouble.ts'
import { counted, countText } from '../words/numbers.ts'
import { oneLine, typeName } from '../words/plain.ts'
import type { Found, Send } from './look-up.ts'

/** What a search has found so far, and how far it has come. */
export interface Reach {
  readonly found: readonly Found[]
  /** Agencies that were looked through. */
  readonly looked: number
  readonly of: number
  /** `null`: that was all of them. */
  readonly next: string | null
}

/** Of one go: some seconds of a service with a lot to read. */
const mostCalls = 6
const mostFound = 10

export const nowhereYet: Reach = { found: [], looked: 0, of: 0, next: null }

/** `from`: goes on where that one ended. `onStep`: after each call. */
export async function lookEverywhere(
  send: Send,
  text: string,
  from: Reach,
  onStep: (reach: Reach) => void,
): Promise<Trouble | undefined> {
  let reach = from
  for (let calls = 0; calls < mostCalls; calls += 1) {
    const after = reach.next === null ? {} : { after: reach.next }
    const outcome = await send(findAnywhere({ text, limit: mostFound, ...after }))
    if (outcome.kind === 'trouble') return outcome.trouble
    if (outcome.kind !== 'answer') return undefined
    const { items, next, searched } = outcome.value
    reach = {
      found: [...reach.found, ...items.map(thingFound)],
      looked: reach.looked + searched.tenants,
      of: searched.of,
      next,
    }
    onStep(reach)
    if (next === null || reach.found.length - from.found.length >= mostFound) return undefined
  }
  return undefined
}

export function reachText({ looked, of, next }: Reach): string {
  if (next === null)
    return of === 1 ? 'The only agency was searched.' : `All ${countText(of)} agencies were searched.`
  return `${countText(looked)} of ${counted(of, 'agency', 'agencies')} were searched.`
}

function thingFound(thing: FoundThing): Found {
  const { kind, tenantId, tenantName, feed, agentRef, contactRef, live, sequenceNumber } = thing
  const at = oneLine(tenantName, 60)
  if (kind === 'property' && agentRef !== null) {
    const lines = [thing.address, thing.postcode, thing.reference].filter(
      (part) => part !== null && part !== '',
    )
    const name = `${lines.length === 0 ? agentRef : oneLine(lines.join(', '))} · ${at}`
    const place = places.property(tenantId, agentRef)
    return { kind: live === false ? 'Removed property' : 'Property', name, place }
  }
  if (kind === 'contact' && contactRef !== null)
    return { kind: 'Contact', name: `${contactRef} · ${at}`, place: places.contact(tenantId, contactRef) }
  const number = sequenceNumber ?? 0
  const name = `Number ${countText(number)}, ${typeName(thing.eventTypeShortCode ?? '')} · ${at}`
  return { kind: 'Event', name, place: places.feed(tenantId, feed, { number }) }
}

/** Each place once, in the order in which they were found. */
export function distinctPlaces(found: readonly Found[]): readonly Found[] {
  const seen = new Set<string>()
  return found.filter(({ place }) => !seen.has(place) && seen.add(place))
}
