/** A database that goes away under load leaves a few lines in the log, and the metrics go on. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { catalogues, scopes } from '@property-events/protocol'
import { createLogger, createService, issueKey, loadPeppers, openStorage } from '../../src/index.ts'
import type { Service, StorageEngine } from '../../src/index.ts'
import { listPath } from '../support/http-client.ts'
import { property } from '../support/property.ts'
import { until } from '../support/until.ts'
import { launchPostgres } from './launch-postgres.ts'

/** Long enough for the time that was reserved to be used up half; a minute where somebody asks for it. */
const awayMs = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 60_000 : 6_000

interface Line {
  readonly msg: string
  readonly outage?: string
  readonly requestId?: string
  readonly requestIds?: readonly string[]
  readonly failures?: number
  readonly unnamed?: number
}

it('a database that is away under load gives two lines, with every failed request findable, and the metrics continue (D6, D9)', async (context) => {
  await using server = await launchPostgres()
  const options = {
    kind: 'postgres',
    url: server.url(),
    readConnections: 4,
    create: true,
  } as const
  const storage = await openStorage({ ...options, catalogue: catalogues.default })
  const text: string[] = []
  const destination = { write: (line: string) => void text.push(line) }
  const [peppers, key] = await keyFor(storage)
  const address = { host: '127.0.0.1', port: 0 }
  const log = createLogger({ level: 'info', destination })
  const requests = { perSecond: 100_000, burst: 1_000_000 }
  const service = await createService({
    ...address,
    metrics: address,
    storage,
    peppers,
    log,
    limits: { requests },
  })
  const lines = (): readonly Line[] => text.map((line): Line => JSON.parse(line))
  const failedIds = new Set<string>()
  const load = startLoad(service, key, failedIds)
  const end = async (): Promise<void> => {
    await load.stop()
    await service.close()
    await storage.close()
  }
  context.after(end)
  await until(() => load.answered() > 20)

  await server.halt('fast')
  await until(() => failedIds.size > 20)
  const away = await metricsOf(service)
  assert.match(away, /^property_events_outage\{of="store"\} 1$/m)
  assert.doesNotMatch(away, /^property_events_epoch_need\{/m)
  await delay(awayMs)
  await server.start()
  await until(() => lines().some(({ outage, failures }) => outage === 'store' && failures !== undefined))
  await until(() => lines().filter(({ outage }) => outage === 'listen').length === 2)
  await until(async () => /^property_events_listen_connected 1$/m.test(await metricsOf(service)))
  await end()

  const ofOutages = lines().filter(({ outage }) => outage !== undefined)
  for (const name of ['listen', 'store']) {
    const told = ofOutages.filter(({ outage }) => outage === name)
    assert.equal(told.length, 2, JSON.stringify(ofOutages))
  }
  assert.equal(ofOutages.length, 4, JSON.stringify(ofOutages))
  const others = lines().filter(({ outage, msg }) => outage === undefined && !/^requests?$/.test(msg))
  assert.deepEqual(others, [])
  const unnamed = lines().reduce((sum, line) => sum + (line.unnamed ?? 0), 0)
  const named = new Set(lines().flatMap(({ requestId, requestIds = [] }) => [requestId, ...requestIds]))
  const missing = [...failedIds].filter((id) => !named.has(id))
  assert.ok(missing.length <= unnamed, `${missing.length} ids are in no line, and ${unnamed} were not named`)
  const bytes = text.filter((line) => /"level":[45]0/.test(line)).join('').length
  context.diagnostic(`${failedIds.size} requests failed: ${bytes} bytes in the log`)
})

async function keyFor(storage: StorageEngine) {
  const tenantId = randomUUID()
  await storage.tenants.createTenant(
    { tenantId, name: 'One', createdMs: Date.now(), suspended: false },
    'cli:test',
  )
  const peppers = loadPeppers({ folder: undefined, given: undefined })
  const grants = [{ tenantId, scopes: scopes.filter((scope) => /:(read|publish)$/.test(scope)) }]
  const more = {
    label: 'test',
    actor: 'cli:test' as const,
    operator: false,
    expiresMs: undefined,
    nowMs: Date.now(),
  }
  const issued = await issueKey(storage.keys, peppers[0], { ...more, grants })
  if (issued.kind !== 'issued') throw new Error(issued.kind)
  return [peppers, issued.text] as const
}

/** Readers, of a window each time another one or of the head, and publishers, one request after the other. */
function startLoad({ url }: Service, key: string, failedIds: Set<string>) {
  const stopping = new AbortController()
  let answered = 0
  const ask = async (number: number): Promise<void> => {
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      const isReading = number < 12
      const query = number % 2 === 0 ? '' : `?from=${new Date(1e12 + round * 1e4).toISOString()}`
      const answer = await fetch(`${url}${isReading ? `${listPath}${query}` : '/v1/property-events'}`, {
        method: isReading ? 'GET' : 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        ...(isReading ? {} : { body: JSON.stringify({ payload: property() }) }),
      })
      if (answer.status >= 500) {
        assert.equal(answer.status, 503, await answer.text())
        failedIds.add(answer.headers.get('x-request-id') ?? '')
      } else await answer.arrayBuffer()
      answered += 1
      await delay(5)
    }
  }
  const askers = Array.from({ length: 16 }, (_, number) => ask(number))
  return {
    answered: () => answered,
    async stop() {
      stopping.abort()
      await Promise.all(askers)
    },
  }
}

async function metricsOf({ metricsUrl = '' }: Service): Promise<string> {
  return (await fetch(metricsUrl)).text()
}
