/** The last numbers of all feeds, noted before a store is moved and compared afterwards. */
import { feedNames, formatTicks, memberOf, memberText } from '@property-events/protocol'
import type { FeedKey, StorageEngine } from '@property-events/server'

export interface NotedHead extends FeedKey {
  readonly position: number
  readonly sequenceNumber: number
  readonly createdDate: string | null
  readonly epoch: string
}

export async function readHeads(storage: StorageEngine): Promise<readonly NotedHead[]> {
  const heads: NotedHead[] = []
  for (const { tenantId } of await storage.tenants.tenants()) {
    for (const feed of feedNames) {
      const head = await storage.events.head({ tenantId, feed })
      if (head === undefined) continue
      const { position, sequenceNumber, created, epoch } = head
      const createdDate = created === undefined ? null : formatTicks(created)
      heads.push({ tenantId, feed, position, sequenceNumber, createdDate, epoch })
    }
  }
  return heads
}

/** The numbers that the store lacks, in a sentence; `undefined`: none of those that were noted. */
export async function headsFault(storage: StorageEngine, text: string): Promise<string | undefined> {
  const noted = parseHeads(text)
  if (noted === undefined) return 'The file is not output of `epoch heads`.'
  const now = new Map((await readHeads(storage)).map((head) => [`${head.tenantId} ${head.feed}`, head]))
  for (const head of noted) {
    const found = now.get(`${head.tenantId} ${head.feed}`)
    const feed = `the ${head.feed} feed of tenant ${head.tenantId}`
    if (found === undefined) return `The store no longer has ${feed}.`
    if (found.epoch !== head.epoch) return `Another epoch has begun in ${feed} since.`
    if (found.position < head.position) {
      return `${sentenceStart(feed)} ends with ${found.sequenceNumber}, and ended with ${head.sequenceNumber}.`
    }
    if (head.position > 0 && !(await holds(storage, head))) {
      return `Number ${head.sequenceNumber} of ${feed} is not the same event as before.`
    }
  }
  const known = new Set(noted.map((head) => `${head.tenantId} ${head.feed}`))
  const stranger = [...now.keys()].find((name) => !known.has(name))
  return stranger === undefined
    ? undefined
    : `The store has a feed that is not in the file (${stranger}): the file is from another store, or older.`
}

function sentenceStart(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

async function holds(storage: StorageEngine, head: NotedHead): Promise<boolean> {
  const { tenantId, feed, sequenceNumber, createdDate } = head
  const key = { tenantId, feed }
  const query = { key, view: 'all', after: sequenceNumber - 1, limit: 1, latestOnly: false } as const
  const [event] = await storage.events.readAfter(query)
  if (event?.sequenceNumber !== sequenceNumber) return false
  const parsed: unknown = JSON.parse(Buffer.from(event.json).toString())
  return memberText(parsed, 'createdDate') === createdDate
}

function parseHeads(text: string): readonly NotedHead[] | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(parsed)) return undefined
  const heads = parsed.map(notedHead)
  return heads.every((head) => head !== undefined) ? heads : undefined
}

function notedHead(value: unknown): NotedHead | undefined {
  const [tenantId, epoch] = [memberText(value, 'tenantId'), memberText(value, 'epoch')]
  const feed = feedNames.find((name) => name === memberOf(value, 'feed'))
  const [position, sequenceNumber] = [memberOf(value, 'position'), memberOf(value, 'sequenceNumber')]
  if (tenantId === undefined || feed === undefined || epoch === undefined) return undefined
  if (typeof position !== 'number' || typeof sequenceNumber !== 'number') return undefined
  const createdDate = memberText(value, 'createdDate') ?? null
  return { tenantId, feed, position, sequenceNumber, createdDate, epoch }
}
