/** What a node holds of bodies at the same time is limited, and one key's share of it is no concern of another's. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { createBytesInFlight } from '../../src/http/bytes-in-flight.ts'
import { call, problemOf, publish } from '../support/http-client.ts'
import { onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { head, open } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const path = '/v1/property-events'
const mebibyte = 2 ** 20

interface Upload {
  readonly socket: Socket
  answer: string
  written: boolean
}

/** One for all uploads: this process is the client too, and is to hold nothing that counts. */
const blanks = Buffer.alloc(16 * mebibyte, ' ')

/** Sends a body but for its last byte, as far as the service takes it. */
async function upload(service: TestService, key: string, byteLength: number): Promise<Upload> {
  const socket = await open(service.port)
  const sent: Upload = { socket, answer: '', written: false }
  socket.on('error', () => undefined)
  socket.on('data', (bytes) => (sent.answer += bytes.toString('latin1')))
  const lines = [`x-api-key: ${key}`, 'Content-Type: application/json', `Content-Length: ${byteLength}`]
  socket.write(head(`POST ${path} HTTP/1.1`, ...lines))
  socket.write(blanks.subarray(0, byteLength - 1), () => (sent.written = true))
  return sent
}

const heldBytes = (): number => process.memoryUsage().arrayBuffers

onTransports('bodies that come at the same time', (transport) => {
  it('are held up to the share of their key, and refused with 503 beyond it, while other keys publish (D9)', async () => {
    const service = await startTestService({ ...transport, limits: { requestTimeoutMs: 300_000 } })
    const before = heldBytes()
    const bodies = Array.from({ length: 40 }, () => upload(service, service.tenant.publishKey, 16 * mebibyte))
    const uploads = await Promise.all(bodies)
    await until(() => uploads.every(({ answer, written }) => written || answer.includes('\r\n\r\n')))
    const refused = uploads.filter(({ answer }) => answer !== '')
    await until(() => heldBytes() - before < 100 * mebibyte, { what: 'less than 100 MiB for forty bodies' })
    assert.ok(refused.length >= 36 && refused.length < 40, `${refused.length} were refused`)
    for (const { answer } of refused) {
      assert.match(answer, /^HTTP\/1\.1 503 /)
      assert.match(answer, /"code":"overloaded"/)
      assert.match(answer, /\r\nretry-after: [234]\r\n/i)
    }
    const { publishKey } = service.otherTenant
    assert.equal((await publish(service, { payload: property() }, { key: publishKey })).events.length, 1)
    const metrics = await (await fetch(service.service.metricsUrl ?? '')).text()
    assert.match(metrics, /property_events_in_flight_refusals_total\{use="publication"\} 3\d/)
    for (const { socket } of uploads) socket.destroy()
    await until(async () =>
      (await (await fetch(service.service.metricsUrl ?? '')).text()).includes(
        'property_events_in_flight_bytes 0\n',
      ),
    )
    const own = await publish(service, { payload: property() })
    assert.equal(own.events.length, 1)
    await service.stop()
  })

  it('whose refusal is read by a client that goes on sending, although its key has no room left, count as one refusal each (D9)', async () => {
    const maxBodyBytes = 128 * 1_024
    // The least that a key has: four bodies of the largest size.
    const limits = { maxBodyBytes, inFlightBytesPerKey: 0, requestTimeoutMs: 300_000 }
    const service = await startTestService({ ...transport, limits })
    const key = service.tenant.publishKey
    const held = await Promise.all(Array.from({ length: 4 }, () => upload(service, key, maxBodyBytes)))
    const metrics = async () => (await fetch(service.service.metricsUrl ?? '')).text()
    const full = `property_events_in_flight_bytes ${4 * maxBodyBytes}\n`
    await until(async () => (await metrics()).includes(full), { what: 'four bodies in flight' })
    const refused = await Promise.all(Array.from({ length: 20 }, () => upload(service, key, maxBodyBytes)))
    await until(() => refused.every(({ answer }) => answer.includes('"code":"overloaded"')))
    assert.match(await metrics(), /property_events_in_flight_refusals_total\{use="publication"\} 20\n/)
    for (const { socket } of [...held, ...refused]) socket.destroy()
    await service.stop()
  })

  it('count with what gzip makes of them (D9)', async () => {
    const limits = { maxBodyBytes: mebibyte, inFlightBytesPerKey: mebibyte, inFlightBytes: 16 * mebibyte }
    const service = await startTestService({ ...transport, limits })
    const body = gzipSync(Buffer.alloc(mebibyte, ' '))
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const post = (key: string) => call(service, path, { method: 'POST', key, headers, body })
    const { tenant, otherTenant } = service
    const asked = [...Array.from({ length: 30 }, () => post(tenant.publishKey)), post(otherTenant.publishKey)]
    const answers = await Promise.all(asked)
    const other = answers.pop()
    assert.equal(other?.status, 400, 'the other key is told what its body lacks')
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([400, 503]))
    assert.equal((await post(tenant.publishKey)).status, 400, 'nothing is left of them')
    await service.stop()
  })

  it('are refused before they are read if they announce their length (D9)', async () => {
    const limits = { maxBodyBytes: 4 * mebibyte, inFlightBytes: mebibyte }
    const service = await startTestService({ ...transport, limits })
    const key = service.tenant.publishKey
    const headers = { 'content-type': 'application/json', 'content-length': String(2 * mebibyte) }
    const answer = await call(service, path, {
      method: 'POST',
      key,
      headers: { ...headers, expect: '100-continue' },
    })
    assert.equal(problemOf(answer).code, 'overloaded')
    await service.stop()
  })
})

describe('the budget of bytes in flight', () => {
  const limits = {
    inFlightBytes: 1_000_000,
    inFlightBytesPerKey: 250_000,
    inFlightBytesOfStrangers: 10_000,
    maxBodyBytes: 100_000,
  }
  const uses = ['snapshot', 'largePage', 'page', 'publication'] as const

  it('counts what belongs to no key yet, and leaves room for publications (P5)', () => {
    const inFlightBytes = 1_000 * 1_024
    const budget = createBytesInFlight({ ...limits, inFlightBytes })
    assert.equal(budget.count(800 * 1_024, 0), true)
    assert.equal(budget.count(150 * 1_024, 0), false)
    assert.equal(budget.state().bytes, 950 * 1_024)
    assert.equal(budget.refuses('a', 'page', 1_024)?.code, 'overloaded')
    assert.equal(budget.refuses('a', 'publication', 1_024), undefined)
    budget.count(-950 * 1_024, 0)
    assert.equal(budget.state().bytes, 0)
    // Parts of a kibibyte add up.
    for (let n = 0; n < 1_024; n += 1) budget.count(1, 0)
    assert.equal(budget.state().bytes, 1_024)
  })

  it('is never exceeded, leaves a new key room, and is whole again at the end (D9)', () => {
    const taken = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e', undefined),
      use: fc.constantFrom(...uses),
      bytes: fc.nat(120_000),
      ends: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(taken, { maxLength: 60 }), (steps) => {
        const budget = createBytesInFlight(limits)
        const flights = steps.map(({ key, use, bytes, ends }) => {
          const flight = budget.begin(key, use)
          flight.take(bytes)
          if (ends) flight.end()
          return flight
        })
        const held = budget.state().bytes
        assert.ok(held <= limits.inFlightBytes)
        // As much as a key has is left beside it: half of what is free is there for one that is new.
        const room = Math.min(200_000, (limits.inFlightBytes - held) / 2) - 2_048
        if (room > 0) assert.equal(budget.refuses('new', 'publication', room), undefined)
        for (const flight of flights) {
          flight.end()
          flight.end()
        }
        assert.equal(budget.state().bytes, 0)
        for (const use of uses) assert.equal(budget.refuses('a', use, 200_000), undefined)
      }),
    )
  })

  it('refuses snapshots first, then large pages, then pages, and publications last (D9)', () => {
    const budget = createBytesInFlight({ ...limits, inFlightBytesPerKey: 1_000_000 })
    const order: string[] = []
    for (let key = 0; key < 1_000; key += 1) {
      for (const use of uses) {
        if (order.includes(use)) continue
        if (budget.refuses(`${key}`, use, 1_024) !== undefined) order.push(use)
      }
      budget.begin(`${key}`, 'publication').take(1_024)
    }
    assert.deepEqual(order, [...uses])
  })
})
