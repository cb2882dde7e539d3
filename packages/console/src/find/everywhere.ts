/** Searching all agencies: call after call, each of which the service bounds, until there is enough to choose from. */
import { paths } from '../base.ts'
import type { FoundThing } from '@property-events/protocol/wire'
import { findAnywhere } from '../service/operations/tenants.ts'
import type { Failure } from '../service/failure.ts'
import { counted, countText } from '../words/numbers.ts'
import { oneLine, typeName } from '../words/plain.ts'
import type { Found, Send } from './look-up.ts'

/** What a search has found so far, and how far it has come. */
export interface Reach {
  readonly found: readonly Found[]
  /** Agencies that were searched. */
  readonly searchedCount: number
  readonly of: number
  /** `null`: that was all of them. */
  readonly next: string | null
}

/** Of one go: some seconds of a service with a lot to read. */
const mostCalls = 6
const mostFound = 10

export const nowhereYet: Reach = { found: [], searchedCount: 0, of: 0, next: null }

/** `from`: goes on where that one ended. `onStep`: after each call. */
export async function searchEverywhere(
  send: Send,
  text: string,
  from: Reach,
  onStep: (reach: Reach) => void,
): Promise<Failure | undefined> {
  let reach = from
  for (let calls = 0; calls < mostCalls; calls += 1) {
    const after = reach.next === null ? {} : { after: reach.next }
    const outcome = await send(findAnywhere({ text, limit: mostFound, ...after }))
    if (outcome.kind === 'failure') return outcome.failure
    if (outcome.kind !== 'answer') return undefined
    const { items, next, searched } = outcome.value
    reach = {
      found: [...reach.found, ...items.map(thingFound)],
      searchedCount: reach.searchedCount + searched.tenants,
      of: searched.of,
      next,
    }
    onStep(reach)
    if (next === null || reach.found.length - from.found.length >= mostFound) return undefined
  }
  return undefined
}

export function reachText({ searchedCount, of, next }: Reach): string {
  if (next === null)
    return of === 1 ? 'The only agency was searched.' : `All ${countText(of)} agencies were searched.`
  return `${countText(searchedCount)} of ${counted(of, 'agency', 'agencies')} were searched.`
}

function thingFound(thing: FoundThing): Found {
  const { kind, tenantId, tenantName, feed, agentRef, contactRef, live, sequenceNumber } = thing
  const at = oneLine(tenantName, 60)
  if (kind === 'property' && agentRef !== null) {
    const lines = [thing.address, thing.postcode, thing.reference].filter(
      (part) => part !== null && part !== '',
    )
    const name = `${lines.length === 0 ? agentRef : oneLine(lines.join(', '))} · ${at}`
    const path = paths.property(tenantId, agentRef)
    return { kind: live === false ? 'Removed property' : 'Property', name, path }
  }
  if (kind === 'contact' && contactRef !== null)
    return { kind: 'Contact', name: `${contactRef} · ${at}`, path: paths.contact(tenantId, contactRef) }
  const number = sequenceNumber ?? 0
  const name = `Number ${countText(number)}, ${typeName(thing.eventTypeShortCode ?? '')} · ${at}`
  return { kind: 'Event', name, path: paths.feed(tenantId, feed, { number }) }
}

/** Each path once, in the order in which they were found. */
export function distinctPaths(found: readonly Found[]): readonly Found[] {
  const seen = new Set<string>()
  return found.filter(({ path }) => !seen.has(path) && seen.add(path))
}
