/** Long values of rows and calls pass node-postgres by: whatever they are, however a socket cuts them, and without anything left behind. */
import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  array,
  assert as assertProperty,
  asyncProperty,
  bigInt,
  constantFrom,
  integer,
  option,
  record,
  tuple,
} from 'fast-check'
import { catalogues } from '@property-events/protocol'
import { Client } from 'pg'
import type { CustomTypesConfig } from 'pg'
import { freeBytes } from '../../src/runtime/memory/free-bytes.ts'
import { openStorage } from '../../src/store/open-storage.ts'
import { bigints, bytes as byteLists, texts } from '../../src/sql/postgres/array.ts'
import { sendLongParameters } from '../../src/sql/postgres/long-parameters.ts'
import {
  gatherLongRows,
  longTextsAsBytes,
  longValueBytes,
  textsAsTexts,
} from '../../src/sql/postgres/long-rows.ts'
import { draft } from '../store/support/drafts.ts'
import { located, publish } from '../store/support/read-back.ts'
import { withTenants } from '../store/support/stores.ts'
import { sharedDatabases } from './test-databases.ts'

/** Hands out what comes in pieces of these lengths by turns. */
class CuttingSocket extends Socket {
  readonly #lengths: readonly number[]
  #turn = 0

  constructor(lengths: readonly number[]) {
    super()
    this.#lengths = lengths
  }

  override emit(event: string, ...given: readonly unknown[]): boolean {
    const [bytes] = given
    if (event !== 'data' || !Buffer.isBuffer(bytes)) return super.emit(event, ...given)
    for (let at = 0; at < bytes.byteLength;) {
      const length = this.#lengths[(this.#turn += 1) % this.#lengths.length] ?? bytes.byteLength
      // Each has memory of its own, as what a socket brings.
      const piece = Buffer.allocUnsafeSlow(Math.min(length, bytes.byteLength - at))
      at += bytes.copy(piece, 0, at)
      super.emit(event, piece)
    }
    return true
  }
}

async function withCuttingClient(
  url: string,
  lengths: readonly number[],
  run: (client: Client) => Promise<void>,
): Promise<void> {
  const stream = (): Socket => new CuttingSocket(lengths)
  const client = new Client({ connectionString: url, stream, types: textsAsTexts })
  gatherLongRows(client)
  sendLongParameters(client)
  await client.connect()
  try {
    await run(client)
  } finally {
    await client.end()
  }
}

const lengths = constantFrom(
  0,
  1,
  100,
  longValueBytes - 1,
  longValueBytes,
  longValueBytes + 1,
  65_536,
  300_000,
)
const rows = array(
  record({
    text: option(tuple(lengths, constantFrom('x', 'é', '’', '𝒳'))),
    number: option(bigInt({ min: 0n, max: 2n ** 62n })),
    bytes: option(lengths),
  }),
  { maxLength: 12 },
)
const cuts = array(constantFrom(1, 2, 3, 4, 5, 7, 1_000, 16_384, 65_536), { minLength: 1, maxLength: 6 })

/** Cuts of a byte each in longer rows would only take long. */
const few = (pieces: readonly number[]): readonly number[] =>
  pieces.reduce((sum, length) => sum + length, 0) < 1_000 ? [...pieces, 10_000] : pieces

describe('rows and parameters with long values', () => {
  it('are what they are without this, and long texts are bytes where a statement asks for it (P9, D22)', async () => {
    const url = await (await sharedDatabases()).create()
    const property = asyncProperty(
      rows,
      cuts,
      integer({ min: 0, max: 1 }),
      async (given, pieces, unnamed) => {
        const sent = given.map(({ text, number, bytes }) => ({
          text: text === null ? null : text[1].repeat(text[0]),
          number,
          bytes: bytes === null ? null : Buffer.alloc(bytes, 'y'),
        }))
        const query = {
          ...(unnamed === 1 ? {} : { name: 'long-values' }),
          text: 'SELECT n, t, b FROM unnest($1::text[], $2::bigint[], $3::bytea[]) AS given (t, n, b)',
          values: [
            texts(sent.map(({ text }) => text)),
            bigints(sent.map(({ number }) => number)),
            byteLists(sent.map(({ bytes }) => bytes)),
          ],
        }
        await withCuttingClient(url, few(pieces), async (client) => {
          const read = async (types: CustomTypesConfig) =>
            (await client.query<Arrived>({ ...query, types })).rows
          const expected = sent.map(({ text, number, bytes }) => ({
            n: number === null ? null : String(number),
            t: text,
            b: bytes,
          }))
          assert.deepEqual(await read(textsAsTexts), expected)
          const asBytes = await read(longTextsAsBytes)
          const isLong = (text: string): boolean => Buffer.byteLength(text) >= longValueBytes
          assert.deepEqual(
            asBytes.map(({ t }) => typeof t),
            expected.map(({ t }) => (t !== null && isLong(t) ? 'object' : typeof t)),
          )
          assert.deepEqual(
            asBytes.map(({ t, ...rest }) => ({
              ...rest,
              t: t instanceof Uint8Array ? Buffer.from(t).toString() : t,
            })),
            expected,
          )
          // Its types were those of the client, and errors and further queries find the connection as it was.
          await assert.rejects(client.query('SELECT 1 / 0'), /division by zero/)
          const {
            rows: [plain],
          } = await client.query<{ long: string }>("SELECT repeat('z', 20000) AS long")
          assert.equal(plain?.long, 'z'.repeat(20_000))
        })
      },
    )
    await assertProperty(property, { numRuns: 60 })
  })
})

interface Arrived {
  readonly n: string | null
  readonly t: string | Uint8Array | null
  readonly b: Buffer | null
}

const mebibyte = 2 ** 20
setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

interface Growth {
  readonly heapMiB: number
  readonly bufferMiB: number
}

/** The most in V8's heap and in memory of buffers whenever `look` is called, beyond what was there before. */
async function growth(run: (look: () => void) => Promise<void>): Promise<Growth> {
  collect()
  const before = process.memoryUsage()
  let [heap, buffers] = [0, 0]
  const look = (): void => {
    const now = process.memoryUsage()
    heap = Math.max(heap, now.heapUsed - before.heapUsed)
    buffers = Math.max(buffers, now.arrayBuffers - before.arrayBuffers)
  }
  await run(look)
  look()
  return { heapMiB: heap / mebibyte, bufferMiB: buffers / mebibyte }
}

describe('a store of long events', () => {
  it('is read and written with nothing that waits for the garbage collector (P5, D18)', async () => {
    const url = await (await sharedDatabases()).create()
    await using store = await withTenants(
      await openStorage({
        kind: 'postgres',
        url,
        readConnections: 1,
        create: true,
        catalogue: catalogues.default,
      }),
    )
    const note = 'x'.repeat(250_000)
    const drafts = Array.from({ length: 64 }, (_, n) => draft({ subject: `long ${n}`, text: note }))
    const written = await growth(async () => void (await publish(store, drafts)))
    assert.ok(written.bufferMiB < 4, `${written.bufferMiB} MiB of buffers are left of 16 that were written`)

    const { range } = await located(store)
    const read = await growth(async (look) => {
      for (let first = 1; first <= range.count; first += 8) {
        const pieces = await store.events.readRange({ ...range, first, count: 8 })
        pieces.forEach(freeBytes)
        const events = await store.events.readAfter({
          key: range.key,
          view: 'all',
          after: first - 1,
          limit: 8,
          latestOnly: false,
        })
        for (const { json } of events) freeBytes(json)
        look()
      }
    })
    assert.ok(read.heapMiB < 8, `${read.heapMiB} MiB of V8's heap were taken to read 32`)
    assert.ok(read.bufferMiB < 12, `${read.bufferMiB} MiB of buffers were taken to read 32`)
  })
})
