/** A following sync of a service that lets it wait (PROTOCOL §13). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { publish } from '../../../server/test/support/http-client.ts'
import { property } from '../../../server/test/support/property.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { until } from '../../../server/test/support/until.ts'
import { AbortedError, memoryCheckpoint } from '../../src/index.ts'
import type { ClientOptions, FeedEvent, SyncOptions } from '../../src/index.ts'
import { createConsumer } from '../support/consumer.ts'
import { clientOf, watched } from '../support/live.ts'

describe('a following sync', () => {
  let service: TestService
  before(async () => {
    service = await startTestService({ limits: { markEveryMs: 100 } })
  })
  after(() => service.stop())

  async function fold(): Promise<ReadonlyMap<string, FeedEvent>> {
    const latest = new Map<string, FeedEvent>()
    for await (const event of clientOf(service).list({ pageSize: 1_000 }))
      latest.set(event.transactionId, event)
    return latest
  }

  /** Follows until `stop` is called. */
  function following(options: Partial<SyncOptions> = {}, clientOptions: Partial<ClientOptions> = {}) {
    const ended = new AbortController()
    const consumer = createConsumer('applyThenSave')
    const { fetch, seen } = watched(clientOptions.fetch)
    let rounds = 0
    const syncing = clientOf(service, { ...clientOptions, fetch }).sync({
      checkpoint: consumer.checkpoint,
      apply: consumer.apply,
      copy: consumer.copy,
      follow: true,
      signal: ended.signal,
      onCaughtUp: () => void (rounds += 1),
      ...options,
    })
    syncing.catch(() => undefined)
    return {
      consumer,
      seen,
      syncing,
      rounds: () => rounds,
      async stop() {
        ended.abort()
        return syncing
      },
    }
  }

  const some = (count: number) => Array.from({ length: count }, () => ({ payload: property() }))

  for (const transport of ['auto', 'wait'] as const) {
    it(`applies what is published without polling, by ${transport} (PROTOCOL §13)`, async () => {
      await publish(service, some(3))
      const sync = following({ follow: { transport } })
      await until(() => sync.rounds() >= 1)
      for (let round = 0; round < 5; round += 1) {
        const held = sync.consumer.rows.size
        await publish(service, some(2))
        await until(() => sync.consumer.rows.size === held + 2, { what: 'the new ones' })
      }
      sync.consumer.checkEqual(await fold())
      assert.equal((await sync.stop()).ended, 'aborted')
      const live = sync.seen.filter(({ path }) => /\/stream|wait=/.test(path))
      assert.equal(
        live.some(({ path }) => path.includes('/stream')),
        transport === 'auto',
      )
      assert.ok(
        live.length > 0 && sync.seen.length - live.length <= 4,
        sync.seen.map(({ path }) => path).join('\n'),
      )
      await until(() => sync.seen.every(({ isClosed }) => isClosed))
    })
  }

  it('says that it is up to date while nothing comes, and moves its checkpoint past other categories (PROTOCOL §13)', async () => {
    const checkpoint = memoryCheckpoint()
    const sync = following({ checkpoint, apiEventType: 'lettingsproperty' })
    await until(() => sync.rounds() >= 3, { what: 'three rounds of nothing' })
    const { events } = await publish(service, some(2))
    const number = events.at(-1)?.sequenceNumber ?? 0
    await until(() => {
      const { reading } = checkpoint.current() ?? {}
      return reading?.kind === 'numbers' && reading.after >= number
    })
    await sync.stop()
  })

  it('takes a new snapshot when the epoch changes while it waits, and keeps following (D13, PROTOCOL §11.2)', async () => {
    const reasons: string[] = []
    const sync = following({ onResync: (reason) => void reasons.push(reason) })
    await until(() => sync.rounds() >= 2)
    const { tenantId } = service.tenant
    await service.storage.startEpoch(0, 'cli:test', [{ tenantId, feed: 'property' }])
    await until(() => reasons.length === 1)
    await publish(service, some(1))
    const wanted = (await fold()).size
    await until(() => sync.consumer.rows.size === wanted)
    sync.consumer.checkEqual(await fold())
    await sync.stop()
  })

  it('survives an absence of the service and reports it, and ends with the error of its own copy (PROTOCOL §7)', async () => {
    let cut: AbortController | undefined = new AbortController()
    const troubles: unknown[] = []
    const sync = following(
      { onTrouble: (error) => troubles.push(error) },
      {
        retry: { attempts: 2 },
        async fetch(input, init) {
          if (cut === undefined) throw new TypeError('away')
          const signal = AbortSignal.any([cut.signal, ...(init?.signal ? [init.signal] : [])])
          return globalThis.fetch(input, { ...init, signal })
        },
      },
    )
    await until(() => sync.rounds() >= 2)
    cut.abort()
    cut = undefined
    await until(() => troubles.length >= 2, { what: 'trouble, told twice' })
    await publish(service, some(1))
    cut = new AbortController()
    const wanted = (await fold()).size
    await until(() => sync.consumer.rows.size === wanted)
    await sync.stop()
    const failing = following({
      apply: () => {
        throw new RangeError('no room')
      },
    })
    await assert.rejects(failing.syncing, RangeError)
    const later = following({
      onCaughtUp() {
        throw new AbortedError()
      },
    })
    await assert.rejects(later.syncing, AbortedError)
  })
})
