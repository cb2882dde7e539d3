/** Where to look for a pasted text: which requests to send, in which order, and the search of all agencies. */
import type { FeedName } from '../base.ts'
import { paths } from '../base.ts'
import { feedDoor, feedsOf, mayAdminister, seesAllTenants } from '../session/access.ts'
import type { Access } from '../session/access.ts'
import type { FeedEvent, FoundProperty, FoundThing, Key, Tenant } from '@property-events/protocol/wire'
import { getEvent, getSubject } from '../service/operations/feeds.ts'
import { getKey } from '../service/operations/keys.ts'
import type { FeedAddress } from '../service/operations/feeds.ts'
import { findAnywhere, getTenant, listProperties, listTenants } from '../service/operations/tenants.ts'
import type { Operation } from '../service/operation.ts'
import type { Failure, Outcome } from '../service/failure.ts'
import { counted, countText, readCount } from '../words/numbers.ts'
import { oneLine, typeName } from '../words/plain.ts'

/** A line of the box. */
export interface Found {
  /** The kind of result: `Property`, `Agency`. */
  readonly kind: string
  readonly name: string
  readonly path: string
}

/** Sends an operation. */
export type Send = <T>(operation: Operation<T>) => Promise<Outcome<T>>

/** Sends one request. If the thing does not exist, it finds nothing and reports no failure. */
type LookUp = (send: Send) => Promise<readonly Found[] | Failure>

export interface FindPlan {
  /** Known without a request. */
  readonly found: readonly Found[]
  readonly lookUps: readonly LookUp[]
  /** What to look for in all agencies in addition; `undefined`: nothing. */
  readonly everywhere?: string
  /** What this session cannot look for, in a sentence. */
  readonly left: string | undefined
}

const nothing: FindPlan = { found: [], lookUps: [], left: undefined }

/** How to find it with this session, in the chosen tenant or, without one, among tenants. */
export function planFind(term: SearchTerm, access: Access, tenantId: string | undefined): FindPlan {
  if (term.kind === 'nothing') return nothing
  if (term.kind === 'key') return planKey(term.keyId, access, tenantId)
  if (term.kind === 'uuid') return planUuid(term.uuid, access, tenantId)
  if (term.kind === 'words') return planWords(term.words, access, tenantId)
  const feeds = tenantId === undefined ? [] : feedsOf(access, tenantId)
  const found = feeds.map((feed) => ({
    kind: feed === 'property' ? 'Event' : 'Contact event',
    name: `Number ${countText(term.number)}`,
    path: paths.feed(tenantId ?? '', feed, { number: term.number }),
  }))
  return { ...planWords(String(term.number), access, tenantId), found }
}

function planKey(keyId: string, access: Access, tenantId: string | undefined): FindPlan {
  if (seesAllTenants(access)) return { ...nothing, lookUps: [lookUp(getKey(keyId), keyFound)] }
  const isSeen = tenantId !== undefined && mayAdminister(access, 'admin:inspect', tenantId)
  if (!isSeen) return { ...nothing, left: 'Your key may not see keys.' }
  const path = paths.keys(tenantId, { key: keyId })
  return { ...nothing, found: [{ kind: 'Key', name: `pev_${keyId}`, path }] }
}

/** It is listed among the keys of each agency that it opens. An operator key is listed among those of the operators. */
function keyFound({ keyId, label, grants }: Key): readonly Found[] {
  const name = `${label === '' ? '' : `${oneLine(label, 60)} · `}pev_${keyId}`
  const query = { key: keyId }
  const found = grants.map(({ tenantId }) => paths.keys(tenantId, query))
  return (found.length === 0 ? [paths.operatorKeys(query)] : found).map((path) => ({
    kind: 'Key',
    name,
    path,
  }))
}

function planUuid(uuid: string, access: Access, tenantId: string | undefined): FindPlan {
  const inFeeds =
    tenantId === undefined
      ? []
      : feedsOf(access, tenantId).flatMap((feed) => uuidIn(uuid, access, tenantId, feed))
  const seesAll = seesAllTenants(access)
  const isMasked =
    !seesAll &&
    tenantId !== undefined &&
    mayAdminister(access, 'admin:inspect', tenantId) &&
    feedDoor(access, tenantId, 'contact') !== 'own'
  const masked = isMasked
    ? [{ kind: 'Contact, if there is one', name: uuid, path: paths.contact(tenantId, uuid) }]
    : []
  const asTenant = seesAll ? [lookUp(getTenant(uuid), (tenant) => [tenantFound(access, tenant)])] : []
  const everywhere = seesAll ? { everywhere: uuid } : {}
  return { found: masked, lookUps: [...inFeeds, ...asTenant], left: undefined, ...everywhere }
}

function uuidIn(uuid: string, access: Access, tenantId: string, feed: FeedName): readonly LookUp[] {
  const door = feedDoor(access, tenantId, feed)
  if (door === undefined) return []
  const address: FeedAddress = { tenantId, feed, door }
  const kind = feed === 'property' ? 'Property' : 'Contact'
  const subject = feed === 'property' ? paths.property(tenantId, uuid) : paths.contact(tenantId, uuid)
  return [
    lookUp(getSubject(address, uuid), (event) => [{ kind, name: lastChange(event), path: subject }]),
    lookUp(getEvent(address, uuid), ({ sequenceNumber, eventTypeShortCode }) => [
      {
        kind: 'Event',
        name: `Number ${countText(sequenceNumber)}, ${typeName(eventTypeShortCode)}`,
        path: paths.feed(tenantId, feed, { number: sequenceNumber }),
      },
    ]),
  ]
}

function lastChange({ sequenceNumber, eventTypeShortCode }: FeedEvent): string {
  return `last changed by event ${countText(sequenceNumber)}, ${typeName(eventTypeShortCode)}`
}

function planWords(words: string, access: Access, tenantId: string | undefined): FindPlan {
  const isSearchable = tenantId !== undefined && mayAdminister(access, 'admin:inspect', tenantId)
  const properties = isSearchable
    ? [
        lookUp(listProperties(tenantId, { search: words, limit: 10 }), ({ items }) =>
          items.map((item) => propertyFound(tenantId, item)),
        ),
      ]
    : []
  const tenants = seesAllTenants(access)
    ? [
        lookUp(listTenants({ search: words, limit: 10 }), ({ items }) =>
          items.map((tenant) => tenantFound(access, tenant)),
        ),
      ]
    : []
  return {
    found: [],
    lookUps: [...properties, ...tenants],
    left: isSearchable || seesAllTenants(access) ? undefined : mayNotSearch,
    ...(seesAllTenants(access) && isLongEnough(words) ? { everywhere: words } : {}),
  }
}

/** Every property has one or two letters of any text. */
function isLongEnough(words: string): boolean {
  return (words.match(/[\p{L}\p{N}]/gu) ?? []).length >= 3
}

const mayNotSearch =
  'Your key may not search. You can only look up numbers, and ids of events and properties.'

function propertyFound(
  tenantId: string,
  { agentRef, address, postcode, live, reference }: FoundProperty,
): Found {
  const lines = [address, postcode, reference].filter((part) => part !== null && part !== '')
  const name = lines.length === 0 ? agentRef : oneLine(lines.join(', '))
  return { kind: live ? 'Property' : 'Removed property', name, path: paths.property(tenantId, agentRef) }
}

function tenantFound(access: Access, { tenantId, name, reference }: Tenant): Found {
  const [feed = 'property'] = feedsOf(access, tenantId)
  return {
    kind: 'Agency',
    name: reference === null ? oneLine(name) : `${oneLine(name)} (${oneLine(reference)})`,
    path: paths.feed(tenantId, feed),
  }
}

function lookUp<T>(operation: Operation<T>, foundIn: (answer: T) => readonly Found[]): LookUp {
  return async (send) => {
    const outcome = await send(operation)
    if (outcome.kind === 'answer') return foundIn(outcome.value)
    return outcome.kind === 'failure' && outcome.failure.status !== 404 ? outcome.failure : []
  }
}

/** What somebody pasted into the find box. */
type SearchTerm =
  | { readonly kind: 'nothing' }
  /** The id of an event, property, contact or agency; only requests show which. Lower case. */
  | { readonly kind: 'uuid'; readonly uuid: string }
  /** A number of an event. */
  | { readonly kind: 'number'; readonly number: number }
  /** The id of a key. The secret stays where it was pasted and is never sent. */
  | { readonly kind: 'key'; readonly keyId: string }
  /** Anything else: a postcode, street, name or reference. */
  | { readonly kind: 'words'; readonly words: string; readonly isPostcode: boolean }

const uuidPattern = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/i
const postcodePattern = /^[a-z]{1,2}\d[a-z\d]?\s*(?:\d[a-z]{2})?$/i
const longestWords = 100

/** Finds it also within a line of a log or the address of a page: the first UUID or key counts. */
export function recognise(pasted: string): SearchTerm {
  const text = pasted.trim().slice(0, 2_000)
  if (text === '') return { kind: 'nothing' }
  const keyId = /pev_(?:test_)?([0-9A-Za-z]{12})(?![0-9A-Za-z])/.exec(text)?.[1]
  if (keyId !== undefined) return { kind: 'key', keyId }
  const uuid = uuidPattern.exec(text)?.[0]
  if (uuid !== undefined) return { kind: 'uuid', uuid: uuid.toLowerCase() }
  const number = readCount(text)
  if (number !== undefined) return { kind: 'number', number }
  const words = text.slice(0, longestWords)
  return { kind: 'words', words, isPostcode: postcodePattern.test(words) }
}

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
