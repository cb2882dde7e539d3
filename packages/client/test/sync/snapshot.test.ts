/** A snapshot that is not what its last line says: it is asked for again, and never taken for the whole feed. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient, InvalidAnswerError } from '../../src/index.ts'
import type { FeedEvent } from '../../src/index.ts'
import { createConsumer } from '../support/consumer.ts'
import { eventsOf, ownReadsOver, urlOf } from '../support/small-feed.ts'

/** What becomes of the lines of a snapshot; the last of them is the end line. */
type Spoiling = (lines: readonly string[]) => readonly string[]

const spoilings: Readonly<Record<string, Spoiling>> = {
  'lacks a line': (lines) => lines.toSpliced(17, 1),
  'lacks its first line': (lines) => lines.slice(1),
  'lacks its last event': (lines) => [...lines.slice(0, -2), ...lines.slice(-1)],
  'has two lines in the other order': (lines) => lines.toSpliced(17, 2, lines[18] ?? '', lines[17] ?? ''),
  'has a line twice': (lines) => lines.toSpliced(17, 0, lines[17] ?? ''),
  'says that it has fewer events': (lines) => [...lines.slice(0, -1), '{"end":true,"head":40,"events":39}'],
  'ends with the end line of another': (lines) => [
    ...lines.slice(0, -1),
    '{"end":true,"head":41,"events":40}',
  ],
}

describe('a snapshot', () => {
  const all = eventsOf(40)
  const whole = ownReadsOver(() => ({ tenantId: 't', epoch: 'a', events: all }))

  /** The first `times` snapshots are spoiled. Lines come one by one, so that those before the fault are taken in. */
  function spoiled(spoil: Spoiling, times: number) {
    let snapshots = 0
    const fetch: typeof globalThis.fetch = async (input) => {
      const answer = await whole(input)
      if (!urlOf(input).pathname.endsWith('/snapshot')) return answer
      snapshots += 1
      const lines = (await answer.text()).trimEnd().split('\n')
      // A snapshot that goes on from the middle is right: only what came in an answer before it can be missing.
      const isWhole = lines.length === all.length + 1
      const sent = isWhole && snapshots <= times ? spoil(lines) : lines
      const body = ReadableStream.from(sent.map((line) => Buffer.from(`${line}\n`)))
      return new Response(body, { headers: answer.headers })
    }
    return { fetch, snapshots: () => snapshots }
  }

  function copyOf(fetch: typeof globalThis.fetch, batchSize: number) {
    const consumer = createConsumer('applyThenSave')
    const options = { baseUrl: 'http://feed.example', key: 'k', sleep: async () => undefined }
    const sync = (by = fetch) =>
      createClient({ ...options, fetch: by }).sync({
        checkpoint: consumer.checkpoint,
        apply: consumer.apply,
        batchSize,
      })
    const fold: ReadonlyMap<string, FeedEvent> = new Map(all.map((event) => [event.transactionId, event]))
    return { sync, checkWhole: () => consumer.checkEqual(fold) }
  }

  for (const [what, spoil] of Object.entries(spoilings)) {
    for (const batchSize of [3, 1_000]) {
      it(`that ${what} is requested again, in batches of ${batchSize}, until it is whole (PROTOCOL §11)`, async () => {
        const { fetch, snapshots } = spoiled(spoil, 2)
        const { sync, checkWhole } = copyOf(fetch, batchSize)
        const { ended } = await sync()
        assert.equal(ended, 'caughtUp')
        checkWhole()
        assert.equal(snapshots(), 3)
      })

      it(`that ${what} every time is not finished, in batches of ${batchSize}, by the next sync either (PROTOCOL §11)`, async () => {
        const { fetch, snapshots } = spoiled(spoil, Infinity)
        const { sync, checkWhole } = copyOf(fetch, batchSize)
        await assert.rejects(sync(), InvalidAnswerError)
        assert.equal(snapshots(), 8)
        await assert.rejects(sync(), InvalidAnswerError)
        await sync(whole)
        checkWhole()
      })
    }
  }
})
