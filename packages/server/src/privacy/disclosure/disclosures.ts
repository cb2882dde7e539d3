/** Which contacts a key was sent within a time: for a notice after a breach (D28). */
import type { StorageEngine } from '../../store/storage.ts'
import { firstIndex } from '../../runtime/first-index.ts'
import { numbersPerBlock } from './disclosure.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import type { NumberedSubject } from '../../events/event-log.ts'
import type { DisclosurePiece } from './disclosure.ts'
import { hourMs } from './disclosure-log.ts'

export interface DisclosuresQuery {
  readonly keyId: string
  readonly fromMs: number
  /** The first millisecond after the requested time. */
  readonly toMs: number
  readonly nowMs: number
}

export interface DisclosedContact {
  readonly contactRef: string
  /** Start of the first and end of the last hour in which events of it were sent. */
  readonly firstMs: number
  readonly lastMs: number
  /** `possibly`: only within an hour that is partly outside the requested time. */
  readonly certainty: 'sent' | 'possibly'
}

export interface TenantDisclosures {
  readonly tenantId: string
  /** By reference. */
  readonly contacts: readonly DisclosedContact[]
}

export interface TimeSpan {
  readonly fromMs: number
  readonly toMs: number
}

type Store = Pick<StorageEngine, 'events' | 'ledger'>

/** Times in which a sending thread has not (yet) reported what it sent: the key may have been sent any contact that it could read. */
export async function unknownTimes(
  { ledger }: Pick<Store, 'ledger'>,
  query: DisclosuresQuery,
): Promise<readonly TimeSpan[]> {
  const runs = await ledger.openRuns()
  return runs.flatMap(({ throughMs, lostMs = query.nowMs }) => {
    const fromMs = Math.max(throughMs, query.fromMs)
    const toMs = Math.min(Math.max(lostMs, throughMs + 1), query.toMs)
    return fromMs < toMs ? [{ fromMs, toMs }] : []
  })
}

const piecesAtOnce = 500

/** One tenant after another, if the key was sent any of its contacts. */
export async function* disclosedContacts(
  store: Store,
  query: DisclosuresQuery,
): AsyncGenerator<TenantDisclosures> {
  const { keyId, fromMs, toMs } = query
  const hours = { fromHour: Math.floor(fromMs / hourMs), toHour: Math.ceil(toMs / hourMs) - 1 }
  let after: DisclosurePiece | undefined
  let gathered: DisclosurePiece[] = []
  for (;;) {
    const pieces = await store.ledger.sent({ keyId, ...hours, after, limit: piecesAtOnce })
    for (const piece of pieces) {
      const before = gathered[0]
      if (before !== undefined && before.key.tenantId !== piece.key.tenantId) {
        yield await disclosuresOf(store, gathered, query)
        gathered = []
      }
      if (piece.key.feed === 'contact') gathered.push(piece)
    }
    after = pieces.at(-1)
    if (pieces.length < piecesAtOnce) break
  }
  if (gathered.length > 0) yield await disclosuresOf(store, gathered, query)
}

interface Hours {
  first: number
  last: number
  isCertain: boolean
}

/** `pieces`: from one tenant's contact feed. */
export async function disclosuresOf(
  store: Store,
  pieces: readonly DisclosurePiece[],
  query: DisclosuresQuery,
): Promise<TenantDisclosures> {
  const found = new Map<string, Hours>()
  for (const ofBlock of Map.groupBy(pieces, ({ view, block }) => `${view} ${block}`).values()) {
    const subjects = await subjectsOf(store, ofBlock)
    for (const { hour, ranges } of ofBlock) {
      const endMs = Math.min((hour + 1) * hourMs, query.nowMs)
      const isCertain = hour * hourMs >= query.fromMs && endMs <= query.toMs
      for (const [first, last] of ranges) {
        for (const { subjectId } of numbersFrom(subjects, first, last))
          note(found, subjectId, hour, isCertain)
      }
    }
  }
  const contacts = [...found].map(([contactRef, { first, last, isCertain }]): DisclosedContact => {
    const certainty = isCertain ? 'sent' : 'possibly'
    return { contactRef, firstMs: first * hourMs, lastMs: (last + 1) * hourMs, certainty }
  })
  const byReference = contacts.sort((a, b) => (a.contactRef < b.contactRef ? -1 : 1))
  return { tenantId: pieces[0]?.key.tenantId ?? '', contacts: byReference }
}

/** `pieces`: all from one block of one view. */
async function subjectsOf(
  { events }: Store,
  pieces: readonly DisclosurePiece[],
): Promise<readonly NumberedSubject[]> {
  const [piece] = pieces
  if (piece === undefined) return []
  const view = piece.view === 'numbers' ? 'numbers' : 'all'
  const key: FeedKey = piece.key
  const first = piece.block * numbersPerBlock
  return events.subjectsIn({ key, view, range: [first, first + numbersPerBlock - 1] })
}

/** The numbers within a range, of ascending ones. */
function* numbersFrom(
  subjects: readonly NumberedSubject[],
  first: number,
  last: number,
): Generator<NumberedSubject> {
  const from = firstIndex(subjects, ({ number }) => number < first)
  for (let index = from; index < subjects.length; index += 1) {
    const subject = subjects[index]
    if (subject === undefined || subject.number > last) return
    yield subject
  }
}

function note(found: Map<string, Hours>, subjectId: string, hour: number, isCertain: boolean): void {
  const before = found.get(subjectId)
  if (before === undefined) {
    found.set(subjectId, { first: hour, last: hour, isCertain })
    return
  }
  before.first = Math.min(before.first, hour)
  before.last = Math.max(before.last, hour)
  before.isCertain ||= isCertain
}
