/** Which contacts of one tenant a key was sent, page by page: for an agency that has to inform them of a breach (D28). */
import type { StorageEngine } from '../../store/storage.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Actor } from '../../audit/actor.ts'
import type { DisclosurePiece } from './disclosure.ts'
import { disclosuresOf, unknownTimes } from './disclosures.ts'
import type { DisclosedContact, DisclosuresQuery, TimeSpan } from './disclosures.ts'
import { hourMs } from './disclosure-log.ts'

export interface DisclosurePageQuery extends DisclosuresQuery {
  readonly tenantId: string
  /** The last piece of the page before; left out: the first page. */
  readonly after: DisclosureCursor | undefined
  readonly actor: Actor
}

/** The place of a piece among those of a key and tenant. */
export type DisclosureCursor = Pick<DisclosurePiece, 'view' | 'hour' | 'block'>

export interface DisclosurePage {
  /** By reference. A contact that was sent at several times can be on several pages. */
  readonly contacts: readonly DisclosedContact[]
  readonly unknown: readonly TimeSpan[]
  /** `undefined`: nothing is left. */
  readonly next: DisclosureCursor | undefined
}

/** A page ends with the piece that fills it: a piece has at most 16,384 contacts. */
const contactsPerPage = 5_000
const piecesAtOnce = 100
const beforeAll: DisclosureCursor = { view: 'all', hour: -1, block: -1 }

type Store = Pick<StorageEngine, 'audit' | 'events' | 'keys' | 'ledger'>

/**
 * `undefined`: the key may read nothing of the tenant, and was sent none of its contacts; or there is no such key. The first page leaves
 * a row in the audit.
 */
export async function disclosurePage(
  store: Store,
  query: DisclosurePageQuery,
): Promise<DisclosurePage | undefined> {
  const { tenantId, keyId, fromMs, toMs, actor, after } = query
  const pieces = await piecesAfter(store, query)
  if (pieces.length === 0 && !(await concerns(store, tenantId, keyId))) return undefined
  if (after === undefined) {
    const detail = { fromMs, toMs }
    await store.audit.note({ action: 'exposure.listed', tenant: tenantId, target: keyId, detail }, actor)
  }
  // Read before the contacts: what is added meanwhile is on the page and still reported as unknown.
  const unknown = await unknownTimes(store, query)
  const readPieces: DisclosurePiece[] = []
  let contacts: readonly DisclosedContact[] = []
  for (const piece of pieces) {
    readPieces.push(piece)
    contacts = merged(contacts, (await disclosuresOf(store, [piece], query)).contacts)
    if (contacts.length >= contactsPerPage) break
    await nextTurn()
  }
  const last = readPieces.at(-1)
  const isWhole = readPieces.length === pieces.length && pieces.length < piecesAtOnce
  return { contacts, unknown, next: isWhole || last === undefined ? undefined : placeOf(last) }
}

function placeOf({ view, hour, block }: DisclosurePiece): DisclosureCursor {
  return { view, hour, block }
}

async function piecesAfter(
  { ledger }: Store,
  query: DisclosurePageQuery,
): Promise<readonly DisclosurePiece[]> {
  const { tenantId, keyId, fromMs, toMs, after = beforeAll } = query
  const key = { tenantId, feed: 'contact' } as const
  const found = await ledger.sent({
    keyId,
    fromHour: Math.floor(fromMs / hourMs),
    toHour: Math.ceil(toMs / hourMs) - 1,
    after: { key, keyId, ...after, ranges: [] },
    limit: piecesAtOnce,
  })
  return found.filter((piece) => piece.key.tenantId === tenantId && piece.key.feed === 'contact')
}

async function concerns({ keys, ledger }: Store, tenantId: string, keyId: string): Promise<boolean> {
  const found = await keys.findKey(keyId)
  if (found?.record.grants.some((grant) => grant.tenantId === tenantId) === true) return true
  // Its earlier grants do not matter if it was sent something at that time.
  const key = { tenantId, feed: 'contact' } as const
  const after = { key, keyId, ...beforeAll, ranges: [] }
  const [first] = await ledger.sent({ keyId, fromHour: 0, toHour: 2 ** 31 - 1, after, limit: 1 })
  return first?.key.tenantId === tenantId && first.key.feed === 'contact'
}

function merged(
  before: readonly DisclosedContact[],
  more: readonly DisclosedContact[],
): readonly DisclosedContact[] {
  const found = new Map(before.map((one) => [one.contactRef, one]))
  for (const one of more) {
    const { contactRef, firstMs, lastMs, certainty } = found.get(one.contactRef) ?? one
    found.set(contactRef, {
      contactRef,
      firstMs: Math.min(firstMs, one.firstMs),
      lastMs: Math.max(lastMs, one.lastMs),
      certainty: certainty === 'sent' ? certainty : one.certainty,
    })
  }
  return [...found.values()].toSorted((a, b) => (a.contactRef < b.contactRef ? -1 : 1))
}
