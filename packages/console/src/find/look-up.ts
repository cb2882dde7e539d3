/** Where to look for a pasted text: which requests to send, and in which order. It sends none itself. */
import type { FeedName } from '../base.ts'
import { paths } from '../base.ts'
import { feedDoor, feedsOf, mayAdminister, seesAllTenants } from '../session/access.ts'
import type { Access } from '../session/access.ts'
import type { FeedEvent, FoundProperty, Key, Tenant } from '@property-events/protocol/wire'
import { getEvent, getSubject } from '../service/operations/feeds.ts'
import { getKey } from '../service/operations/keys.ts'
import type { FeedAddress } from '../service/operations/feeds.ts'
import { getTenant, listProperties, listTenants } from '../service/operations/tenants.ts'
import type { Operation } from '../service/operation.ts'
import type { Failure, Outcome } from '../service/failure.ts'
import { countText } from '../words/numbers.ts'
import { oneLine, typeName } from '../words/plain.ts'
import type { SearchTerm } from './recognise.ts'

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
export type LookUp = (send: Send) => Promise<readonly Found[] | Failure>

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
