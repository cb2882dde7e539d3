/** A node has so many connections and no more: what comes beyond is told so, and those that are there are served. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { it } from 'node:test'
import { call, listPath, publish } from '../support/http-client.ts'
import { onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { collect, head, open, openWithFarEnd } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

const patient = { waitMs: 30_000 }
const get = ({ tenant }: TestService, query: string): string =>
  head(`GET ${listPath}?${query} HTTP/1.1`, `x-api-key: ${tenant.readKey}`)

onTransports('connections', (transport) => {
  it('beyond the maximum are refused with 503, and accepted again when others have gone (D9)', async () => {
    const service = await startTestService({ ...transport, limits: { maxConnections: 5 } })
    const held: Socket[] = []
    for (let count = 0; count < 5; count += 1) held.push((await openWithFarEnd(service.port)).socket)
    const [first] = held
    for (let count = 0; count < 3; count += 1) {
      const refused = await collect(await open(service.port), patient)
      assert.equal(refused.status, 503)
      assert.match(refused.text, /"code":"overloaded"/)
      assert.match(refused.text, /\r\nretry-after: 5\r\n/i)
      assert.ok(refused.closed)
    }
    // A client that speaks before it reads gets its answer as well.
    assert.equal((await call(service, listPath, { key: service.tenant.readKey })).status, 503)
    first?.write(get(service, 'pageSize=1'))
    assert.ok(first)
    assert.equal(
      (await collect(first, { ...patient, until: (text) => text.includes('\r\n\r\n') })).status,
      200,
    )
    for (const socket of held) socket.destroy()
    const isTaken = async () =>
      (await call(service, listPath, { key: service.tenant.readKey })).status === 200
    await until(isTaken, { what: 'an answer' })
    const lines = () => service.logLines.filter((line) => /connections are (refused|taken)/.test(line))
    await until(() => lines().length === 2, { what: 'the line about the end' })
    assert.match(lines()[0] ?? '', /connections are refused/)
    await service.stop()
  })

  it('are closed in time if their readers take nothing, whatever they send meanwhile (D9)', async () => {
    const service = await startTestService({ ...transport, limits: { idleSocketTimeoutMs: 1_000 } })
    for (let batch = 0; batch < 3; batch += 1) {
      await publish(
        service,
        Array.from({ length: 50 }, () => ({ payload: property({ note: 'x'.repeat(200_000) }) })),
      )
    }
    const socket = await open(service.port)
    socket.on('error', () => undefined)
    socket.pause()
    socket.write(get(service, 'pageSize=1000'))
    // Asking more is no reading.
    const asking = setInterval(() => socket.write(get(service, 'pageSize=1')), 300)
    const metrics = async () => (await fetch(service.service.metricsUrl ?? '')).text()
    const isHeld = async () => !(await metrics()).includes('property_events_in_flight_bytes 0\n')
    await until(isHeld, { what: 'the page' })
    await until(async () => !(await isHeld()), { what: 'the end of the page' })
    await until(() => service.logLines.some((line) => line.includes('"aborted":true')))
    clearInterval(asking)
    socket.destroy()
    await service.stop()
  })
})
