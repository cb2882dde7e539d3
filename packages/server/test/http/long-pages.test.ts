/** Pages too long to be made whole go out in pieces, with the same text, and cost their readers' node pieces. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { before, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { StorageEngine } from '../../src/index.ts'
import { call, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import { isLongRun, onEngines, onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { head, open } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

const mebibyte = 2 ** 20

/** One that is full and one that is not; in the long run also one that ends with the feed. */
const pageSizes = isLongRun ? [150, 250, 1_000] : [150, 1_000]

/** Random letters, which gzip makes hardly shorter. */
const note = (length: number): string =>
  Buffer.from(Array.from({ length: length / 2 }, () => Math.floor(Math.random() * 65_536))).toString('hex')

async function fill(service: TestService): Promise<void> {
  // 50 of 200 kB, and 100 short ones on either side.
  const lengths = [
    ...Array<number>(100).fill(10),
    ...Array<number>(50).fill(200_000),
    ...Array<number>(100).fill(10),
  ]
  for (let at = 0; at < lengths.length; at += 25) {
    await publish(
      service,
      lengths.slice(at, at + 25).map((length) => ({ payload: property({ note: note(length) }) })),
    )
  }
}

onEngines('a page of 10 MB', {}, (service) => {
  before(() => fill(service()))

  it('has the text of its parts, plain and compressed, sealed or not, with its length and tag (D4, P4, P12)', async () => {
    const key = service().tenant.readKey
    const ask = (query: string, headers = {}, method = 'GET') =>
      call(service(), `${listPath}?${query}`, { key, headers, method })
    const items: unknown[] = []
    for (let page = 1; page <= 25; page += 1)
      items.push(...pageOf(await ask(`page=${page}&pageSize=10`)).items)
    assert.equal(items.length, 250)
    // Its segments are sealed after they were asked for, and the next round reads those.
    for (let round = 0; round < 2; round += 1) {
      for (const pageSize of pageSizes) {
        const plain = await ask(`pageSize=${pageSize}`)
        assert.equal(plain.status, 200)
        assert.equal(plain.headers['content-length'], String(plain.body.length))
        assert.ok(plain.body.length > 9_000_000)
        const page = pageOf(plain)
        assert.deepEqual(page.items, items.slice(0, pageSize))
        assert.equal(page.availableCount, 250)
        const zipped = await ask(`pageSize=${pageSize}`, { 'accept-encoding': 'gzip' })
        assert.equal(zipped.headers['content-encoding'], 'gzip')
        assert.equal(gunzipSync(zipped.body).toString(), plain.text)
        const headless = await ask(`pageSize=${pageSize}`, {}, 'HEAD')
        for (const name of ['content-length', 'etag', 'content-type'])
          assert.equal(headless.headers[name], plain.headers[name])
        const again = await ask(`pageSize=${pageSize}`, { 'if-none-match': String(plain.headers.etag) })
        assert.equal(again.status, 304)
      }
    }
    const sales = pageOf(await ask('pageSize=1000&apiEventType=SalesPropertyEvents'))
    assert.deepEqual(sales.items, items)
  })

  it('leaves its connection to the next request (D9)', async () => {
    const socket = await open(service().port)
    let seen = ''
    socket.on('data', (bytes) => (seen = (seen + bytes.toString('latin1')).slice(-3_000)))
    for (const coding of ['identity', 'gzip', 'identity']) {
      const lines = [`x-api-key: ${service().tenant.readKey}`, `Accept-Encoding: ${coding}`]
      seen = ''
      socket.write(head(`GET ${listPath}?pageSize=250 HTTP/1.1`, ...lines))
      const end = coding === 'gzip' ? '\r\n0\r\n\r\n' : '"totalPages":1}'
      await until(() => seen.endsWith(end), { what: `the end of the page as ${coding}` })
    }
    socket.destroy()
  })

  it('is a run of events as well, which may end before its limit (PROTOCOL §11)', async () => {
    const key = service().tenant.readKey
    let after = 0
    let read = 0
    for (let rounds = 0; rounds < 10; rounds += 1) {
      const run = JSON.parse((await call(service(), `/v1/property-events?after=${after}`, { key })).text)
      read += run.items.length
      after = run.next
      if (run.next >= run.head) break
    }
    assert.equal(read, 250)
  })
})

/** Asks for the long page and reads no more than its beginning. */
async function stopReading(
  service: TestService,
  key: string,
): Promise<{ socket: Socket; status: () => string }> {
  const socket = await open(service.port)
  let text = ''
  socket.on('error', () => undefined)
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1', 0, 100)
    socket.pause()
  })
  socket.write(head(`GET ${listPath}?pageSize=1000 HTTP/1.1`, `x-api-key: ${key}`))
  return { socket, status: () => text.slice(9, 12) }
}

onTransports('readers who stop reading a long page', (transport) => {
  it('hold pieces and not pages, and release them when they have been sent (P5, D9)', async () => {
    const service = await startTestService(transport)
    // 75 MB.
    for (let batch = 0; batch < 6; batch += 1) {
      await publish(
        service,
        Array.from({ length: 50 }, () => ({ payload: property({ note: 'x'.repeat(250_000) }) })),
      )
    }
    const before = process.memoryUsage().arrayBuffers
    const readers = await Promise.all(
      Array.from({ length: 10 }, () => stopReading(service, service.tenant.readKey)),
    )
    await until(() => readers.every(({ status }) => status() === '200'), { what: 'ten answers' })
    await until(() => process.memoryUsage().arrayBuffers - before < 40 * mebibyte, {
      what: 'less than 40 MiB for ten readers',
    })
    const key = service.otherTenant.readKey
    assert.equal((await call(service, listPath, { key })).status, 200)
    for (const { socket } of readers) socket.destroy()
    const metrics = async () => (await fetch(service.service.metricsUrl ?? '')).text()
    await until(async () => (await metrics()).includes('property_events_in_flight_bytes 0\n'))
    await service.stop()
  })

  it('are refused beyond the share of their key, and no other key is (D9)', async () => {
    const limits = {
      inFlightBytes: 16 * mebibyte,
      inFlightBytesPerKey: 4 * mebibyte,
      maxBodyBytes: mebibyte,
    }
    const service = await startTestService({ ...transport, limits })
    for (let batch = 0; batch < 35; batch += 1) {
      await publish(
        service,
        Array.from({ length: 3 }, () => ({ payload: property({ note: 'x'.repeat(250_000) }) })),
      )
    }
    const { readKey } = service.tenant
    const readers = await Promise.all(Array.from({ length: 4 }, () => stopReading(service, readKey)))
    await until(() => readers.every(({ status }) => status() === '200'), { what: 'four answers' })
    const refused = await call(service, `${listPath}?pageSize=1000`, { key: readKey })
    assert.equal(refused.status, 503)
    assert.equal(problemOf(refused).code, 'overloaded')
    assert.ok(Number(refused.headers['retry-after']) > 0)
    const tenantId = service.tenant.tenantId
    const { text: otherKey } = await service.issue({ grants: [{ tenantId, scopes: ['property:read'] }] })
    assert.equal((await call(service, `${listPath}?pageSize=1000`, { key: otherKey })).status, 200)
    for (const { socket } of readers) socket.destroy()
    const isThere = async () =>
      (await call(service, `${listPath}?pageSize=1000`, { key: readKey })).status === 200
    await until(isThere, { what: 'the page once they have gone' })
    await service.stop()
  })

  it('are cut off, and their page with them, if the store fails in the middle (P9)', async () => {
    const fails = { now: false }
    const wrap = (storage: StorageEngine): StorageEngine =>
      withEvents(storage, {
        readRange: (range) =>
          fails.now ? Promise.reject(new Error('gone')) : storage.events.readRange(range),
        readRangeWithin: (range, maxBytes) => storage.events.readRangeWithin(range, maxBytes),
      })
    const service = await startTestService({ ...transport, wrap })
    await publish(
      service,
      Array.from({ length: 50 }, () => ({ payload: property({ note: 'x'.repeat(250_000) }) })),
    )
    fails.now = true
    await assert.rejects(
      call(service, `${listPath}?pageSize=1000`, { key: service.tenant.readKey }),
      /aborted|hang up|reset/i,
    )
    await until(() => service.logLines.some((line) => line.includes('"gone"')), { what: 'a line about it' })
    fails.now = false
    assert.equal(
      (await call(service, `${listPath}?pageSize=1000`, { key: service.tenant.readKey })).status,
      200,
    )
    await service.stop()
  })
})
