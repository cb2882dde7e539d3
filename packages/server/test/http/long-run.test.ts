/** What takes minutes or measures time: all of it in the long run, a small part in every run. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { before, it } from 'node:test'
import { call, getPath, listPath, problemOf, publish } from '../support/http-client.ts'
import { isLongRun, onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { open } from '../support/raw-socket.ts'

const pairs = isLongRun ? 10_000 : 50
const idleClients = join(import.meta.dirname, '../support/idle-clients.ts')
const idleConnections = isLongRun ? 10_000 : 200

/** Welch's t of two samples, after the slowest tenth of each is left out: a scheduler's pause says nothing of us. */
function welch(left: readonly number[], right: readonly number[]): number {
  const summary = (sample: readonly number[]) => {
    const kept = sample.toSorted((a, b) => a - b).slice(0, Math.ceil(sample.length * 0.9))
    const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length
    const variance = kept.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (kept.length - 1)
    return { mean, error: variance / kept.length }
  }
  const [a, b] = [summary(left), summary(right)]
  return (a.mean - b.mean) / Math.sqrt(a.error + b.error)
}

/** Silent connections stay for as long as the test needs them. */
const patient = { headersTimeoutMs: 120_000, requestTimeoutMs: 120_000, idleSocketTimeoutMs: 120_000 }

onEngines('under observation and load', { byNode: true, limits: patient }, (service) => {
  let foreignId = ''

  before(async () => {
    const events = Array.from({ length: 100 }, () => ({ payload: property() }))
    await publish(service(), events)
    const foreign = await publish(service(), events, { key: service().otherTenant.publishKey })
    foreignId = foreign.events[50]?.id ?? ''
  })

  it("reveals nothing about another tenant's event, nor by its timing in the long run (D8, P10)", async () => {
    const key = service().tenant.readKey
    const times: Record<'foreign' | 'unknown', number[]> = { foreign: [], unknown: [] }
    const texts = new Set<string>()
    for (let pair = 0; pair < pairs; pair += 1) {
      const unknownId = foreignId.slice(0, -12) + String(pair).padStart(12, '0')
      // In changing order, so that nothing always goes first.
      for (const kind of pair % 2 === 0
        ? (['foreign', 'unknown'] as const)
        : (['unknown', 'foreign'] as const)) {
        const started = process.hrtime.bigint()
        const answer = await call(service(), `${getPath}/${kind === 'foreign' ? foreignId : unknownId}`, {
          key,
        })
        times[kind].push(Number(process.hrtime.bigint() - started))
        assert.equal(answer.status, 404)
        const { instance, requestId, ...said } = problemOf(answer)
        assert.ok(instance.startsWith(getPath) && requestId !== '')
        texts.add(JSON.stringify(said).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id'))
      }
    }
    assert.equal(texts.size, 1)
    // Only the long run has enough pairs to tell a difference from the noise of a shared machine.
    if (isLongRun) assert.ok(Math.abs(welch(times.foreign, times.unknown)) < 4.5)
  })

  it('answers good clients while many connections are idle (D9)', async () => {
    using idle = spawn(process.execPath, [idleClients, String(service().port), String(idleConnections)], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    assert.ok(idle.stdout)
    await once(idle.stdout, 'data')
    const times: number[] = []
    for (let request = 0; request < 100; request += 1) {
      const started = performance.now()
      const answer = await call(service(), `${listPath}?pageSize=10`, { key: service().tenant.readKey })
      times.push(performance.now() - started)
      assert.equal(answer.status, 200)
    }
    idle.send('how many are open?')
    const [stillOpen] = await once(idle, 'message')
    assert.equal(stillOpen, idleConnections)
    if (isLongRun) assert.ok((times.toSorted((a, b) => a - b)[98] ?? 0) < 100)
  })
})

onEngines('clients that do not read', { byNode: true, limits: { idleSocketTimeoutMs: 500 } }, (service) => {
  it('are cut off, and hold no more than one answer each (D9)', async () => {
    const payload = property({ note: 'x'.repeat(200_000) })
    for (let batch = 0; batch < 5; batch += 1) {
      await publish(
        service(),
        Array.from({ length: 10 }, () => ({ payload: { ...payload, n: batch } })),
      )
    }
    const request = `GET ${listPath}?pageSize=50 HTTP/1.1\r\nHost: a\r\nx-api-key: ${service().tenant.readKey}\r\n\r\n`
    const closed = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const socket = await open(service().port)
        socket.pause()
        socket.write(request.repeat(20))
        return new Promise<boolean>((resolve) => {
          // Writing is how one who does not read finds out that the other side is gone.
          const timer = setInterval(() => socket.write(request), 200)
          const done = (result: boolean) => {
            clearInterval(timer)
            clearTimeout(patience)
            socket.destroy()
            resolve(result)
          }
          const patience = setTimeout(() => done(false), 10_000)
          socket.on('error', () => done(true))
          socket.on('close', () => done(true))
        })
      }),
    )
    assert.deepEqual(closed, [true, true, true, true, true])
    assert.ok(service().logLines.filter((line) => line.includes('"aborted":true')).length <= 10)
  })
})
