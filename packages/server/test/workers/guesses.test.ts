/** What D10 promises of a node, on one of several threads: a connection is given to any of them. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { call, listPath } from '../support/http-client.ts'
import { startTestService } from '../support/test-service.ts'

describe('a service on three threads', () => {
  it('keeps answering every key, on any thread, while its address guesses (D10)', async () => {
    const service = await startTestService({
      engine: 'threads',
      limits: { failures: { perSecond: 0.001, burst: 10 } },
    })
    const statusOf = async (key: string) => (await call(service, listPath, { key })).status
    after(() => service.stop())
    for (let guess = 0; guess < 15; guess += 1) await statusOf(`pev_${guess}`)
    assert.equal(await statusOf('pev_once_more'), 429)
    const statuses: number[] = []
    for (let time = 0; time < 12; time += 1) {
      for (const { readKey } of [service.tenant, service.otherTenant]) statuses.push(await statusOf(readKey))
    }
    assert.deepEqual(new Set(statuses), new Set([200]))
    assert.equal(await statusOf('pev_once_more'), 429)
  })
})
