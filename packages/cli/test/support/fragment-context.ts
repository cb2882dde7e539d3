/**
 * What the fragments of TypeScript in the documents take as given: the client, a key, and a website with a database of its
 * own. Loaded before a fragment that is run, and read beside it where it is type-checked.
 */
import { createClient } from '@property-events/client'
import type {
  Batch,
  Change,
  Checkpoint,
  Client,
  FollowedEvent,
  FollowPosition,
  Property,
  Publication,
} from '@property-events/client'

/** A website's own tables, in memory. */
class WebsiteDatabase {
  readonly #properties = new Map<string, Change>()
  readonly #numbers = new Map<string, number>()
  #checkpoint: Checkpoint | undefined

  loadCheckpoint(): Checkpoint | undefined {
    return this.#checkpoint
  }

  saveCheckpoint(checkpoint: Checkpoint): void {
    this.#checkpoint = checkpoint
  }

  transaction(work: () => void): void {
    work()
  }

  apply(change: Change): void {
    if (change.kind === 'remove') this.#properties.delete(change.subjectId)
    else this.#properties.set(change.subjectId, change)
  }

  applyWithCheckpoint(batch: Batch): void {
    for (const change of batch.changes) this.apply(change)
    this.saveCheckpoint(batch.checkpoint)
  }

  putIfNewer(subjectId: string, sequenceNumber: number, _property: Property | undefined): void {
    this.#numbers.set(subjectId, Math.max(sequenceNumber, this.#numbers.get(subjectId) ?? 0))
  }

  countProperties(): number {
    return this.#properties.size
  }

  countOf(subjectIds: readonly string[]): number {
    return subjectIds.filter((subjectId) => this.#properties.has(subjectId)).length
  }

  everySubjectId(): Iterable<string> {
    return this.#properties.keys()
  }
}

/** Sends what is new to somebody. An operator stops it after the fifth, as programs that follow a feed are stopped. */
class Notices {
  #position: FollowPosition | undefined
  readonly #positions = new Map<string, FollowPosition>()
  readonly #sent: number[] = []

  loadPosition(): FollowPosition | undefined {
    return this.#position
  }

  savePosition(position: FollowPosition): void {
    this.#position = position
  }

  positionsOfTenants(): ReadonlyMap<string, FollowPosition> {
    return this.#positions
  }

  savePositionOf(tenantId: string, position: FollowPosition): void {
    this.#positions.set(tenantId, position)
  }

  async send({ sequenceNumber }: FollowedEvent): Promise<void> {
    this.#sent.push(sequenceNumber)
    if (this.#sent.length === 5) process.kill(process.pid, 'SIGTERM')
  }
}

/** The address in the documents; requests to it go to the service under test. */
const documented = 'https://feed.example.com'
const { PROPERTY_EVENTS_URL = '', PROPERTY_EVENTS_KEY = '' } = process.env
const ask = globalThis.fetch
let asked = 0
globalThis.fetch = (input, init) => {
  const url = input instanceof Request ? input.url : String(input)
  if (!url.startsWith(documented)) throw new Error(`a fragment asks ${url}`)
  asked += 1
  return ask(PROPERTY_EVENTS_URL + url.slice(documented.length), init)
}

process.on('exit', () => process.stdout.write(`asked the service ${asked} times\n`))

const db = new WebsiteDatabase()
const given = {
  key: PROPERTY_EVENTS_KEY,
  feed: createClient({ baseUrl: documented, key: PROPERTY_EVENTS_KEY }),
  db,
  notices: new Notices(),
  website: { apply: (batch: Batch) => db.applyWithCheckpoint(batch) },
  changes: [
    { payload: { agent_ref: '7d1c3a54-5c1e-4c4f-8e0b-00000000f4a6', published: true } },
  ] satisfies readonly Publication[],
}
Object.assign(globalThis, given)

declare global {
  const key: string
  const feed: Client
  const db: WebsiteDatabase
  const notices: Notices
  const website: { apply(batch: Batch): void }
  const changes: readonly Publication[]
}
