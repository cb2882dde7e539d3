/** Snapshots are long: many at once, or one that is read quickly, leave the others their turn. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { before, it } from 'node:test'
import type { StorageEngine } from '../../src/index.ts'
import { call, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { until } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

const path = '/v1/property-events/snapshot'
const pieces = 12

/** The turns of the event loop in which pieces were read from the store. */
const readIn: number[] = []
let turnNow = (): number => 0
/** Pieces are read once this has resolved. */
let gate: Promise<void> = Promise.resolve()
let begun = 0

const wrap = (storage: StorageEngine): StorageEngine =>
  withEvents(storage, {
    async readAfter(query) {
      begun += 1
      await gate
      readIn.push(turnNow())
      return storage.events.readAfter(query)
    },
  })

onEngines('snapshots', { wrap }, (service) => {
  before(async () => {
    for (let piece = 0; piece < pieces; piece += 1) {
      await publish(
        service(),
        Array.from({ length: 250 }, () => ({ payload: property() })),
      )
    }
  })

  /** Begins one and reads nothing of it yet. */
  const begin = (key: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { 'x-api-key': key }
      request({ port: service().port, path, headers, agent: false }, resolve).on('error', reject).end()
    })
  const lastLine = async (answer: IncomingMessage): Promise<string> => {
    let text = ''
    for await (const bytes of answer) text = (text + String(bytes)).slice(-200)
    return text
  }

  it('of one key are three at a time: a fourth is refused until one has ended (P5, PROTOCOL §8)', async () => {
    const { tenant, otherTenant } = service()
    const held = Promise.withResolvers<void>()
    gate = held.promise
    begun = 0
    const asked = [1, 2, 3].map(() => begin(tenant.readKey))
    await until(() => begun === 3, { what: 'three snapshots' })
    const refused = await call(service(), path, { key: tenant.readKey })
    assert.equal(refused.status, 429)
    assert.equal(problemOf(refused).code, 'too_many_snapshots')
    assert.ok(Number(refused.headers['retry-after']) > 0)
    // Of whatever feed.
    const contacts = await call(service(), '/v1/contact-events/snapshot', { key: tenant.readKey })
    assert.equal(contacts.status, 429)
    held.resolve()
    assert.equal((await call(service(), path, { key: otherTenant.readKey })).status, 200)
    const [left, ...read] = await Promise.all(asked)
    left?.destroy()
    for (const answer of read) assert.match(await lastLine(answer), /\{"end":true,.*\}\n$/)
    for (let round = 0; round < 5; round += 1) {
      await until(async () => (await call(service(), path, { key: tenant.readKey })).status === 200, {
        what: 'a snapshot after the others',
      })
    }
  })

  it('that are not to be had leave the key its place (PROTOCOL §11)', async () => {
    const { readKey } = service().tenant
    for (let round = 0; round < 5; round += 1) {
      assert.equal((await call(service(), `${path}?after=999999`, { key: readKey })).status, 409)
      assert.equal((await call(service(), path, { key: readKey, method: 'HEAD' })).status, 200)
    }
  })

  it('give others a turn of the event loop after each piece, however fast they are read (P5)', async () => {
    const key = service().tenant.readKey
    readIn.length = 0
    let turn = 0
    const count = (): void => {
      turn += 1
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    turnNow = () => turn
    assert.match(await lastLine(await begin(key)), /\{"end":true/)
    clearImmediate(next)
    assert.ok(readIn.length >= pieces)
    assert.equal(new Set(readIn).size, readIn.length, 'no two pieces were read in one turn')
  })

  it('take turns: in a turn of the event loop one of them reads one piece, however many there are (P5)', async () => {
    const { tenant, otherTenant } = service()
    await publish(
      service(),
      Array.from({ length: 500 }, () => ({ payload: property() })),
      { key: otherTenant.publishKey },
    )
    const held = Promise.withResolvers<void>()
    gate = held.promise
    begun = 0
    readIn.length = 0
    let turn = 0
    const count = (): void => {
      turn += 1
      next = setImmediate(count)
    }
    let next = setImmediate(count)
    turnNow = () => turn
    const keys = [tenant.readKey, otherTenant.readKey]
    const asked = [0, 1, 2].flatMap(() => keys.map(begin))
    await until(() => begun === asked.length, { what: 'six snapshots' })
    held.resolve()
    for (const answer of await Promise.all(asked)) assert.match(await lastLine(answer), /\{"end":true/)
    clearImmediate(next)
    const afterFirst = readIn.slice(asked.length)
    assert.ok(afterFirst.length >= 3 * pieces)
    assert.equal(new Set(afterFirst).size, afterFirst.length, 'no two pieces were read in one turn')
  })
})
