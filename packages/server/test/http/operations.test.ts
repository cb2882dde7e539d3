import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { StorageFailure } from '../../src/index.ts'
import type { StorageEngine } from '../../src/index.ts'
import { call, getPath, listPath, problemOf, publish } from '../support/http-client.ts'
import { onEngines, onTransports } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { collect, head, open } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

const operationsCall = (service: TestService, path: string, method = 'GET') =>
  fetch(new URL(path, service.service.metricsUrl), { method })

onEngines('operating the service', {}, (service) => {
  it('shows metrics, liveness and readiness on a port of their own only (D9)', async () => {
    await publish(service(), { payload: property() })
    const metrics = await (await operationsCall(service(), '/metrics')).text()
    assert.match(
      metrics,
      /property_events_http_request_duration_seconds_count\{route="\/v1\/property-events",method="POST",status="201"\} 1/,
    )
    assert.match(metrics, /property_events_publish_requests_total\{feed="property",outcome="receipt"\} 1/)
    assert.match(metrics, /property_events_stored_events_total\{feed="property"\} 1/)
    for (const name of ['waiting_publish_requests', 'commits_under_way', 'locked_feeds']) {
      assert.match(metrics, new RegExp(`^property_events_${name} 0$`, 'm'))
    }
    assert.match(metrics, /nodejs_eventloop_lag_seconds/)
    // By which Prometheus sees that a node was started again.
    assert.match(metrics, /^process_start_time_seconds 1\d{9}/m)
    for (const path of ['/livez', '/readyz'])
      assert.equal((await operationsCall(service(), path)).status, 200)
    assert.equal((await operationsCall(service(), '/nope')).status, 404)
    assert.equal((await operationsCall(service(), '/metrics', 'POST')).status, 405)
    for (const path of ['/metrics', '/livez', '/readyz'])
      assert.equal((await call(service(), path)).status, 404)
  })

  it('shows the metrics that the document for operators lists with their types, all of them and no others (D9)', async () => {
    const metrics = await (await operationsCall(service(), '/metrics')).text()
    const shown = [...metrics.matchAll(/^# TYPE (property_events_\w+) (\w+)/gm)]
    const document = readFileSync(join(import.meta.dirname, '../../../../docs/metrics.md'), 'utf8')
    const listed = [...document.matchAll(/^\| `(property_events_\w+)` \| (\w+)/gm)]
    const named = (rows: readonly RegExpMatchArray[]) =>
      rows.map(([, name, type]) => `${name} ${type}`).toSorted()
    assert.deepEqual(named(shown), named(listed))
    for (const [, name = ''] of document.matchAll(/`((?:nodejs|process)_\w+)`/g))
      assert.ok(metrics.includes(`# HELP ${name} `), name)
  })

  it('keeps keys, ids of events and paths of strangers out of metric labels (P10, D11)', async () => {
    const { tenant } = service()
    const { events } = await publish(service(), { payload: property() })
    const id = events[0]?.id ?? ''
    await call(service(), `${getPath}/${id}`, { key: tenant.readKey })
    await call(service(), `/wp-admin/${id}`, { key: tenant.readKey, method: 'PROPFIND' })
    const metrics = await (await operationsCall(service(), '/metrics')).text()
    // The id of a key is no secret, and stands only where a key was refused something.
    for (const secret of [id, tenant.readKey, tenant.readKey.slice(17, 40), 'wp-admin', 'PROPFIND']) {
      assert.ok(!metrics.includes(secret), secret)
    }
  })

  it('shows who reads and publishes most, whose key is refused and why, and which requests were slowest (D9)', async () => {
    const { otherTenant: tenant, storage } = service()
    const numberOf = async (name: string, labels: string): Promise<number> => {
      const text = await (await operationsCall(service(), '/metrics')).text()
      const line = text.split('\n').find((one) => one.startsWith(`property_events_${name}{${labels}} `))
      return Number(line?.split(' ').at(-1) ?? Number.NaN)
    }
    const label = `tenant="${tenant.tenantId}"`
    await publish(service(), { payload: property() }, { key: tenant.publishKey })
    const pages = await Promise.all(
      Array.from({ length: 3 }, () => call(service(), listPath, { key: tenant.readKey })),
    )
    const refused = await call(service(), '/v1/property-events', { method: 'POST', key: tenant.readKey })
    assert.equal(refused.status, 403)
    const requestId = String(refused.headers['x-request-id'])
    await until(async () => (await numberOf('tenant_read_requests_total', label)) === 3)
    assert.equal(await numberOf('tenant_stored_events_total', label), 1)
    const bytes = pages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
    assert.equal(await numberOf('tenant_read_bytes_total', label), bytes)
    const keys = await storage.keys.keys()
    const { keyId } = keys.find((key) => tenant.readKey.includes(key.keyId)) ?? { keyId: '' }
    await until(async () => (await numberOf('key_refusals_total', `key="${keyId}"`)) === 1)
    assert.ok((await numberOf('problems_total', 'code="missing_scope"')) >= 1)
    const slowest = await operationsCall(service(), '/slowest')
    const { requests } = (await slowest.json()) as { requests: readonly Record<string, unknown>[] }
    const found = requests.find((one) => one['requestId'] === requestId)
    assert.equal(found?.['route'], '/v1/property-events')
    assert.equal(found?.['keyId'], keyId)
    assert.ok(Number(found?.['durationMs']) > 0)
  })

  it('shows how long commits took and publications waited, what waits, and the state of the store (D9, D13)', async () => {
    await publish(service(), { payload: property() })
    const text = await (await operationsCall(service(), '/metrics')).text()
    const has = (line: RegExp) => assert.match(text, line)
    has(/^property_events_commit_duration_seconds_count\{outcome="done"\} [1-9]/m)
    has(/^property_events_publish_wait_seconds_count [1-9]/m)
    has(/^property_events_lane_waiting_requests\{batch="10"\} 0$/m)
    has(/^property_events_lane_commits_under_way\{batch="any"\} 0$/m)
    has(/^property_events_waiting_publish_characters 0$/m)
    has(/^property_events_epoch_need\{feeds="none"\} 1$/m)
    has(/^property_events_outage\{of="store"\} 0$/m)
  })

  it('writes one line for each request, with its id and outcome, and never a query (D6, D18)', async () => {
    const before = service().logLines.length
    const answer = await call(service(), `${listPath}?page=0&from=secret-value`, {
      key: service().tenant.readKey,
    })
    const lines = service()
      .logLines.slice(before)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.equal(lines.length, 1)
    const [line] = lines
    assert.equal(line?.['requestId'], answer.headers['x-request-id'])
    assert.equal(line?.['status'], 400)
    assert.equal(line?.['problem'], 'invalid_parameter')
    assert.equal(line?.['path'], listPath)
    assert.ok(!JSON.stringify(line).includes('secret-value'))
  })
})

const unavailable = () =>
  Promise.reject(new StorageFailure('storage_unavailable', new Error('SQLITE_IOERR at /data/x.db')))

onTransports('a failing store', (transport) => {
  const posting = (service: TestService, query = '') =>
    call(service, `/v1/property-events${query}`, {
      method: 'POST',
      key: service.tenant.publishKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payload: property() }),
    })

  it('that is full refuses to publish with 503 and still reads (P6, D9)', async () => {
    const append = () => Promise.reject(new StorageFailure('storage_full'))
    const service = await startTestService({
      ...transport,
      wrap: (storage) => withEvents(storage, { append }),
    })
    const answer = await posting(service)
    assert.equal(answer.status, 503)
    assert.equal(problemOf(answer).code, 'storage_full')
    assert.equal(answer.headers['retry-after'], '30')
    assert.equal((await call(service, listPath, { key: service.tenant.readKey })).status, 200)
    await service.stop()
  })

  it('shows in the metrics what became of every publish request, the worst too (P6, D9)', async () => {
    const codes = ['storage_full', 'storage_unavailable'] as const
    let failures = 0
    const append = () => Promise.reject(new StorageFailure(codes[failures++] ?? 'storage_full'))
    const service = await startTestService({
      ...transport,
      wrap: (storage) => withEvents(storage, { append }),
    })
    after(() => service.stop())
    for (const _ of codes) assert.equal((await posting(service)).status, 503)
    const notText = await call(service, '/v1/property-events', {
      method: 'POST',
      key: service.tenant.publishKey,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from([0xff]),
    })
    assert.equal(notText.status, 400)
    const metrics = await (await operationsCall(service, '/metrics')).text()
    const count = /property_events_publish_requests_total\{feed="property",outcome="(\w+)"\} (\d+)/g
    assert.deepEqual(
      [...metrics.matchAll(count)].map(([, outcome, times]) => `${outcome} ${times}`).toSorted(),
      ['failed 2', 'invalid 1'],
    )
  })

  it('that does not hold what was stored gives 500 with a code of its own, and its cause only in the log (P9, D6)', async () => {
    const damaged = () =>
      Promise.reject(new StorageFailure('storage_damaged', new Error('the event at position 17')))
    const service = await startTestService({
      ...transport,
      wrap: (storage) => withEvents(storage, { readRange: damaged, readEvent: damaged, readLatest: damaged }),
    })
    after(() => service.stop())
    assert.equal((await posting(service)).status, 201)
    const key = service.tenant.readKey
    for (const path of [listPath, `${getPath}/${randomUUID()}`, `/v1/properties/${randomUUID()}`]) {
      const linesBefore = service.logLines.length
      const answer = await call(service, path, { key })
      assert.equal(answer.status, 500, path)
      assert.equal(problemOf(answer).code, 'storage_damaged')
      assert.equal(answer.headers['cache-control'], 'no-store')
      assert.doesNotMatch(answer.text, /position 17/)
      const requestId = String(answer.headers['x-request-id'])
      await until(() => service.logLines.slice(linesBefore).join('').includes(requestId))
    }
    assert.equal(service.logLines.filter((line) => line.includes('position 17')).length, 1)
  })

  it('that does not answer gives 503 with its cause in the log alone (D6, D9)', async () => {
    const service = await startTestService({
      ...transport,
      wrap: (storage) =>
        withEvents(storage, {
          locate: unavailable,
          readEvent: unavailable,
          append: unavailable,
          preview: unavailable,
        }),
    })
    for (const answer of [
      await call(service, listPath, { key: service.tenant.readKey }),
      await call(service, `${getPath}/0194b3e0-0000-7000-8000-000000000000`, { key: service.tenant.readKey }),
      await posting(service),
      await posting(service, '?dryRun=true'),
    ]) {
      assert.equal(answer.status, 503)
      assert.equal(problemOf(answer).code, 'storage_unavailable')
      assert.equal(answer.headers['retry-after'], '5')
      assert.doesNotMatch(answer.text, /SQLITE|\/data/)
    }
    assert.match(service.logLines.join(''), /SQLITE_IOERR/)
    await service.stop()
  })

  it('that breaks its own promises gives 500 without a word of why (D6)', async () => {
    const readRange = () => Promise.reject(new TypeError('undefined is not a function at secret.ts:12'))
    const service = await startTestService({
      ...transport,
      wrap: (storage) => withEvents(storage, { readRange }),
    })
    await publish(service, { payload: property() })
    const answer = await call(service, listPath, { key: service.tenant.readKey })
    assert.equal(answer.status, 500)
    assert.equal(problemOf(answer).code, 'internal_error')
    assert.doesNotMatch(answer.text, /undefined|secret/)
    await service.stop()
  })

  it('that throws at once, or says nothing of what it was given, gives 500 and one line of the log for each request (D6, P6)', async () => {
    let append: StorageEngine['events']['append'] = () => Promise.resolve([])
    const service = await startTestService({
      ...transport,
      wrap: (storage) => withEvents(storage, { append: (batches) => append(batches) }),
    })
    after(() => service.stop())
    const misfortunes: readonly (typeof append)[] = [
      () => {
        throw new TypeError('at once')
      },
      () => Promise.reject(new TypeError('a little later')),
      () => Promise.resolve([]),
    ]
    for (const misfortune of misfortunes) {
      append = misfortune
      const from = service.logLines.length
      const answer = await posting(service)
      assert.equal(answer.status, 500)
      assert.equal(problemOf(answer).code, 'internal_error')
      const told = () => service.logLines.slice(from).filter((line) => line.includes('"request"'))
      await until(() => told().length > 0)
      const lines = service.logLines.slice(from).map((line) => JSON.parse(line))
      assert.equal(lines.filter(({ msg, status }) => msg === 'request' && status === 500).length, 1)
      assert.equal(lines.filter(({ err }) => err !== undefined).length, 1)
    }
    append = () => Promise.resolve([{ kind: 'unknownFeed' }])
    assert.equal(problemOf(await posting(service)).code, 'key_disabled')
  })

  it('that waits for its clock, for an epoch or for the disk answers 503 and says so (D13, D25)', async () => {
    for (const [outcome, code, retryAfter] of [
      [
        { kind: 'clockBehind', headCreated: 17_000_006_000_000_000n, now: 17_000_000_000_000_000n },
        'clock_behind',
        '300',
      ],
      [{ kind: 'epochRequired' }, 'epoch_required', '60'],
    ] as const) {
      const append = () => Promise.resolve([outcome])
      const service = await startTestService({
        ...transport,
        wrap: (storage) => withEvents(storage, { append }),
      })
      const answer = await posting(service)
      assert.equal(answer.status, 503)
      assert.equal(problemOf(answer).code, code)
      assert.equal(answer.headers['retry-after'], retryAfter)
      await service.stop()
    }
  })

  it('that hangs holds up neither the metrics nor the list of slow requests (D9)', async () => {
    const hang = () => new Promise<never>(() => undefined)
    const service = await startTestService({
      ...transport,
      wrap: (storage) => ({
        ...storage,
        [Symbol.asyncDispose]: () => storage.close(),
        heldSnapshots: hang,
        epochNeed: hang,
        maintenance: hang,
      }),
    })
    after(() => service.stop())
    const paths = ['/metrics', '/slowest']
    const [metrics, slowest] = await Promise.all(paths.map((path) => operationsCall(service, path)))
    const text = (await metrics?.text()) ?? ''
    assert.match(text, /^property_events_waiting_publish_requests 0$/m)
    assert.doesNotMatch(text, /^property_events_(epoch_need|maintenance)[ {]/m)
    assert.equal(slowest?.status, 200)
  })

  it('that fails a hundred requests leaves one line with its cause, and each request is found by its id (D6)', async () => {
    const service = await startTestService({
      ...transport,
      wrap: (storage) => withEvents(storage, { append: unavailable, readRange: unavailable }),
    })
    after(() => service.stop())
    const beganMs = performance.now()
    const answers = await Promise.all(Array.from({ length: 100 }, () => posting(service)))
    const ids = answers.map(({ headers }) => String(headers['x-request-id']))
    assert.ok(answers.every(({ status }) => status === 503))
    await until(() => ids.every((id) => service.logLines.some((line) => line.includes(`"${id}"`))))
    assert.equal(service.logLines.filter((line) => line.includes('SQLITE_IOERR')).length, 1)
    // Ten a second have a line of their own, and the others of that second share one.
    const seconds = Math.ceil((performance.now() - beganMs) / 1_000) + 1
    const lines = service.logLines.filter((line) => line.includes('"msg":"request'))
    assert.ok(lines.length <= 11 * seconds, `${lines.length} lines in ${seconds} s`)
  })

  it('makes the service not ready, but leaves it alive (D9)', async () => {
    const service = await startTestService({
      ...transport,
      wrap: (storage) => ({ ...storage, [Symbol.asyncDispose]: () => storage.close(), ping: unavailable }),
    })
    assert.equal((await operationsCall(service, '/readyz')).status, 503)
    assert.equal((await operationsCall(service, '/livez')).status, 200)
    await service.stop()
  })
})

describe('draining', () => {
  it('says that it stops, and answers everything as the last of its connection, until it is closed (PROTOCOL §7)', async () => {
    const service = await startTestService()
    after(() => service.stop())
    const { readKey, publishKey } = service.tenant
    const readyz = async () => {
      const answer = await operationsCall(service, '/readyz')
      return [answer.status, await answer.text()]
    }
    assert.deepEqual(await readyz(), [200, 'ok\n'])
    const body = JSON.stringify({ payload: property() })
    const asked = (target: string, key: string, ...lines: readonly string[]) =>
      head(`${target} HTTP/1.1`, `x-api-key: ${key}`, ...lines)
    const posted =
      asked(
        'POST /v1/property-events',
        publishKey,
        'content-type: application/json',
        `content-length: ${Buffer.byteLength(body)}`,
      ) + body
    // On the bare socket, and by Node's HTTP, as its bytes come in two pieces.
    const requests = [[asked(`GET ${listPath}`, readKey)], [posted], [posted.slice(0, -5), posted.slice(-5)]]
    requests.push([asked('GET /v1/heads', readKey)])
    const before = await Promise.all(requests.map(() => open(service.port)))
    for (const [index, socket] of before.entries()) {
      socket.write(requests[index]?.join('') ?? '')
      await new Promise((resolve) => socket.once('data', resolve))
    }
    await service.service.drain()
    assert.deepEqual(await readyz(), [503, 'stopping\n'])
    for (const [index, pieces] of requests.entries()) {
      for (const socket of [before[index], await open(service.port)]) {
        if (socket === undefined) continue
        const answer = collect(socket)
        for (const piece of pieces) {
          socket.write(piece)
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
        const { text, closed, status } = await answer
        assert.ok(status === 200 || status === 201, text)
        assert.match(text, /^connection: close\r$/im)
        assert.ok(closed)
      }
    }
  })
})

onTransports('a graceful stop', (transport) => {
  it('answers open requests, stores what it acknowledges, and then accepts no more (P7)', async (test) => {
    const entered = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const service = await startTestService({
      ...transport,
      wrap: (storage) =>
        withEvents(storage, {
          append: async (batches) => {
            entered.resolve()
            await gate.promise
            return storage.events.append(batches)
          },
        }),
    })
    test.after(async () => {
      gate.resolve()
      await service.service.close()
      await service.storage.close()
    })
    const inFlight = publish(service, { payload: property() })
    await entered.promise
    const idle = await open(service.port)
    const half = await open(service.port)
    half.write(head(`GET ${listPath} HTTP/1.1`, `x-api-key: ${service.tenant.readKey}`).slice(0, -2))
    // The service has read the half request when it has answered a whole one that was sent later.
    assert.equal((await call(service, listPath, { key: service.tenant.readKey })).status, 200)
    const closed = service.service.close()
    assert.equal(service.service.close(), closed)
    assert.ok((await collect(idle)).closed)
    half.write('\r\n')
    const last = await collect(half)
    assert.equal(last.status, 200)
    assert.match(last.text, /^connection: close/im)
    gate.resolve()
    assert.equal((await inFlight).events.length, 1)
    await closed
    await assert.rejects(call(service, listPath))
  })
})
