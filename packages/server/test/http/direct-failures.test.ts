/** What is published past the router to a store that fails: in everything as on the long way. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { StorageFailure, defaultLimits } from '../../src/index.ts'
import type { StorageEngine } from '../../src/index.ts'
import { askBothWays, proveKey, readByNodeDuring } from '../support/both-ways.ts'
import { call, listPath, pageOf } from '../support/http-client.ts'
import { property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import { withEvents } from '../support/with-events.ts'

const path = '/v1/property-events'
const json = { 'content-type': 'application/json' }

/** What an engine may say or throw when it is asked to append. */
const misfortunes: readonly (() => ReturnType<StorageEngine['events']['append']>)[] = [
  () => Promise.reject(new StorageFailure('storage_full')),
  () => Promise.reject(new StorageFailure('storage_unavailable', new Error('SQLITE_IOERR'))),
  () => Promise.reject(new TypeError('undefined is not a function')),
  () => {
    throw new TypeError('at once')
  },
  () => Promise.resolve([]),
  () => Promise.resolve([{ kind: 'epochRequired' }]),
  () => Promise.resolve([{ kind: 'unknownFeed' }]),
  () =>
    Promise.resolve([
      { kind: 'clockBehind', headCreated: 17_000_006_000_000_000n, now: 17_000_000_000_000_000n },
    ]),
]

describe('what is published directly to a store that fails', () => {
  it('is refused with the words, the headers and the log of the router (P6, D6, D13, D25)', async () => {
    let append: (typeof misfortunes)[number] = () => Promise.resolve([])
    const service = await startTestService({
      // Stands still, so that tokens can be compared.
      clock: () => 1_800_000_000_000,
      wrap: (storage) => withEvents(storage, { append: () => append() }),
    })
    const { tenant, otherTenant } = service
    const keys = { direct: [tenant.publishKey], routed: [otherTenant.publishKey] }
    for (const key of [tenant.publishKey, otherTenant.publishKey]) await proveKey(service, key)
    for (const misfortune of misfortunes) {
      append = misfortune
      const since = service.logLines.length
      const body = JSON.stringify({ payload: property() })
      const routed = await readByNodeDuring(async () => {
        const answers = await askBothWays(service, keys, {
          path,
          method: 'POST',
          key: 0,
          headers: json,
          body,
        })
        assert.ok(answers.direct.status >= 400)
        assert.deepEqual(answers.direct, answers.routed)
      })
      assert.equal(routed, 1)
      const lines = service.logLines.slice(since).map((line) => {
        const { level, msg, status, problem, err } = JSON.parse(line)
        return { level, msg, status, problem, error: err?.message }
      })
      assert.deepEqual(lines.slice(0, lines.length / 2), lines.slice(lines.length / 2))
    }
    await service.stop()
  })

  it('is answered when the store has, however long that takes for a connection on which nothing moves (P7)', async () => {
    const service = await startTestService({
      limits: { ...defaultLimits, headersTimeoutMs: 150, idleSocketTimeoutMs: 150 },
      wrap: (storage) =>
        withEvents(storage, {
          append: (batches) => delay(700).then(() => storage.events.append(batches)),
        }),
    })
    const { publishKey } = service.tenant
    try {
      await proveKey(service, publishKey)
      for (const headers of [json, { ...json, 'x-feed-min-sequence': '0' }]) {
        const body = JSON.stringify({ payload: property() })
        const answer = await call(service, path, { method: 'POST', key: publishKey, headers, body })
        assert.equal(answer.status, 201)
      }
    } finally {
      await service.stop()
    }
  })

  it('leaves the feed as it was (P6)', async () => {
    const service = await startTestService()
    const { publishKey, readKey } = service.tenant
    await proveKey(service, publishKey)
    const body = JSON.stringify([{ payload: property() }, { payload: 17 }])
    const answer = await call(service, path, { method: 'POST', key: publishKey, headers: json, body })
    assert.equal(answer.status, 400)
    assert.equal(pageOf(await call(service, listPath, { key: readKey })).availableCount, 0)
    await service.stop()
  })
})
