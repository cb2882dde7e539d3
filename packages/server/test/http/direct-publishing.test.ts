/**
 * Publishing is answered past the router where nothing about the head of a request is unusual. An absolute target takes the
 * same request to the router: both must answer the same.
 */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { before, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import * as fc from 'fast-check'
import { askBothWays, proveKey, readByNodeDuring } from '../support/both-ways.ts'
import type { TwoTenants } from '../support/both-ways.ts'
import { call } from '../support/http-client.ts'
import { isLongRun, onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { collect, head, open } from '../support/raw-socket.ts'
import { publishRequests } from '../support/publish-requests.ts'

const path = '/v1/property-events'
const json = { 'content-type': 'application/json' }

/** One token a second and a clock that stands still: every token that is taken or given back shows. */
const counted = {
  clock: () => 1_800_000_000_000,
  limits: {
    requests: { perSecond: 1, burst: 100_000 },
    maxBodyBytes: 20_000,
    publication: { maxEvents: 5, maxPayloadBytes: 9_000, maxPayloadDepth: 8 },
  },
}

onEngines('what is published directly', counted, (service) => {
  let keys: TwoTenants = { direct: [], routed: [] }

  before(async () => {
    const { tenant, otherTenant } = service()
    const scopes = ['property:publish'] as const
    const grants = [tenant, otherTenant].map(({ tenantId }) => ({ tenantId, scopes }))
    const [ofBoth, ofBothToo] = [await service().issue({ grants }), await service().issue({ grants })]
    const bad = `${tenant.publishKey.slice(0, -1)}~`
    keys = {
      direct: [tenant.publishKey, tenant.readKey, ofBoth.text, bad, undefined],
      routed: [otherTenant.publishKey, otherTenant.readKey, ofBothToo.text, bad, undefined],
    }
    for (const key of [...keys.direct, ...keys.routed]) await proveKey(service(), key ?? '')
  })

  it('is answered as the router does, whatever is sent (PROTOCOL §4, P6, P11, D6, D9, D10, D14)', async () => {
    const request = publishRequests(path)
    const numRuns = isLongRun ? 4_000 : 400
    const routed = await readByNodeDuring(() =>
      fc.assert(
        fc.asyncProperty(request, async (asked) => {
          const answers = await askBothWays(service(), keys, asked)
          assert.deepEqual(answers.direct, answers.routed)
        }),
        { numRuns },
      ),
    )
    assert.ok(routed < 1.5 * numRuns, `${routed} of ${2 * numRuns} requests came to the router`)
  })

  it('is taken past the router in the spellings clients use (PROTOCOL §4)', async () => {
    const body = JSON.stringify({ payload: property() })
    const [key] = keys.direct
    for (const [target, type] of [
      [path, 'application/json'],
      [`${path}?dryRun=true`, 'application/json; charset=utf-8'],
      [path, 'application/x-ndjson'],
    ] as const) {
      const routed = await readByNodeDuring(async () => {
        const headers = { 'content-type': type }
        const { status } = await call(service(), target, { method: 'POST', key, headers, body })
        assert.ok(status < 300)
      })
      assert.equal(routed, 0)
    }
  })

  it('needs nothing of Node’s HTTP where it comes in one piece, and the same answer comes where it does not (D9)', async () => {
    const body = JSON.stringify({ payload: property() })
    const key = `x-api-key: ${keys.direct[0]}`
    const lines = ['Content-Type: application/json', `Content-Length: ${body.length}`, 'Connection: close']
    const headText = head(`POST ${path} HTTP/1.1`, key, ...lines)
    const send = async (pieces: readonly string[]) => {
      const socket = await open(service().port)
      let requests = 0
      const count = (): void => void (requests += 1)
      subscribe('http.server.request.start', count)
      for (const piece of pieces) {
        socket.write(piece)
        await wait(20)
      }
      const { status, closed } = await collect(socket)
      unsubscribe('http.server.request.start', count)
      return { status, closed, requests }
    }
    assert.deepEqual(await send([headText + body]), { status: 201, closed: true, requests: 0 })
    assert.deepEqual(await send([headText, body]), { status: 201, closed: true, requests: 1 })
    assert.deepEqual(await send([headText.slice(0, 30), headText.slice(30) + body]), {
      status: 201,
      closed: true,
      requests: 1,
    })
  })

  it('is logged and counted once, like any other (D9)', async () => {
    const named = async (kind: string) => {
      const text = await (await fetch(String(service().service.metricsUrl))).text()
      return text
        .split('\n')
        .filter((line) => line.includes(kind) && /_count|_total/.test(line))
        .map((line) => Number(line.split(' ').at(-1)))
        .reduce((sum, value) => sum + value, 0)
    }
    for (const [payload, status, outcome] of [
      [property(), 201, 'receipt'],
      [property({ status: 'x' }), 400, 'invalid'],
    ] as const) {
      const kinds = [`route="${path}",method="POST",status="${status}"`, `outcome="${outcome}"`]
      const before = await Promise.all(kinds.map(named))
      const since = service().logLines.length
      const asked = { path, method: 'POST', key: 0, headers: json, body: JSON.stringify({ payload }) }
      await askBothWays(service(), keys, asked)
      assert.deepEqual(
        await Promise.all(kinds.map(named)),
        before.map((count) => count + 2),
      )
      const [direct, routed, ...others] = service().logLines.slice(since).map(comparableLine)
      assert.equal(direct?.['path'], path)
      assert.deepEqual(direct, routed)
      assert.deepEqual(others, [])
    }
  })
})

/** Without what differs between two requests of two tenants. */
function comparableLine(line: string): Readonly<Record<string, unknown>> {
  const { time, requestId, durationMs, keyId, tenantId, path: logged, ...same } = JSON.parse(line)
  assert.ok(durationMs === undefined || durationMs >= 0)
  const known = { time, requestId, keyId, tenantId, path: logged }
  const types = Object.entries(known).map(([name, value]) => [name, typeof value])
  return { ...same, types, path: String(logged).replace('http://127.0.0.1', '') }
}
