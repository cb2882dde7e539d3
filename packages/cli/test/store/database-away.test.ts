/** A database that is not there when a node starts, or goes away while it serves. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { launchPostgres } from '../../../server/test/postgres/launch-postgres.ts'
import type { LaunchedPostgres } from '../../../server/test/postgres/launch-postgres.ts'
import { freePorts } from '../../../server/test/support/free-ports.ts'
import { until } from '../../../server/test/support/until.ts'
import { makeTenant, placeOf } from '../support/make-tenant.ts'
import { listEvents, removeFolder, run, runUntil, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

describe('a database that is away', () => {
  const root = temporaryFolder()
  const started: Running[] = []
  let server: LaunchedPostgres
  before(async () => {
    server = await launchPostgres()
  })
  after(async () => {
    for (const { child } of started) child.kill('SIGKILL')
    await server[Symbol.asyncDispose]()
    removeFolder(root)
  })
  const environment = () => ({
    PROPERTY_EVENTS_DATABASE: server.url(),
    PROPERTY_EVENTS_KEY_PEPPER: 'the same on every node',
  })

  it('is waited for at the start, and said so once', async () => {
    await server.halt('fast')
    const ports = await freePorts(2)
    const nodes = await Promise.all(
      ports.map((port, index) => {
        const place = ['--data', join(root, `early ${index}`), '--port', '0', '--metrics-port', String(port)]
        const more = ['--drain', '0', '--log-level', 'warn']
        return runUntil(['serve', ...place, ...more], /waiting/, { environment: environment() })
      }),
    )
    await server.start()
    for (const [index, node] of nodes.entries()) {
      const readyz = `http://127.0.0.1:${ports[index]}/readyz`
      const answer = () =>
        fetch(readyz).then(
          (response) => response.text(),
          () => undefined,
        )
      await until(async () => (await answer()) === 'ok\n', { what: 'a node that is ready' })
      const { code, stderr } = await node.stop('SIGTERM')
      assert.equal(code, 0, stderr)
      const waits = stderr.split('\n').filter((line) => line.includes('up to 60 s'))
      assert.equal(waits.length, 1, stderr)
      assert.match(waits[0] ?? '', /"msg":"The database cannot be used \(.+\): waiting for it, up to 60 s\."/)
    }
  })

  it('is waited for no longer than requested, and a signal ends the waiting at once', async () => {
    await server.halt('fast')
    const place = ['--data', join(root, 'never'), '--port', '0']
    const given = await run(['serve', ...place, '--wait', '1s'], { environment: environment() })
    assert.equal(given.code, 1)
    assert.match(given.stderr, /The database cannot be reached .*Check its address in --database/)
    const atOnce = await run(['serve', ...place, '--wait', '0'], { environment: environment() })
    assert.equal(atOnce.code, 1)
    assert.doesNotMatch(atOnce.stderr, /waiting/)
    const waiting = await runUntil(['serve', ...place], /waiting/, { environment: environment() })
    assert.equal((await waiting.stop('SIGTERM')).code, 0)
    assert(!existsSync(join(root, 'never', 'pepper')))
    await server.start()
  })

  it('is not waited for if waiting cannot help', async () => {
    const url = new URL(server.url())
    url.pathname = '/no_such_database'
    const { code, stderr } = await run(['serve', '--data', join(root, 'wrong'), '--port', '0'], {
      environment: { ...environment(), PROPERTY_EVENTS_DATABASE: url.href },
    })
    assert.equal(code, 1)
    assert.match(stderr, /no_such_database/)
    assert.doesNotMatch(stderr, /waiting/)
  })

  it('leaves the nodes not ready, and they are as before when it is back (P7, P8)', async () => {
    const one = await start(['serve', '--data', join(root, 'one')], { environment: environment() })
    const two = await start(['serve', '--data', join(root, 'two')], { environment: environment() })
    started.push(one, two)
    const wanted = { read: ['read'], publish: ['publish'] }
    const { keys } = await makeTenant(placeOf(environment()), 'Hill & Co', wanted)
    const [readKey, publishKey] = [keys.read.key, keys.publish.key]
    const readiness = async ({ line }: Running) => (await fetch(new URL('/readyz', line.metricsUrl))).status
    const publish = async ({ line }: Running) => {
      const answer = await fetch(`${line.url}/v1/property-events`, {
        method: 'POST',
        headers: { 'x-api-key': publishKey, 'content-type': 'application/json' },
        body: JSON.stringify({ id: randomUUID(), payload: { agent_ref: randomUUID(), published: true } }),
      })
      return answer.status
    }
    assert.deepEqual([await publish(one), await publish(two)], [201, 201])
    for (const outage of ['fast', 'crash'] as const) {
      const before = (await listEvents(one.line.url, readKey, 'pageSize=1')).body.availableCount
      await server.halt(outage)
      assert.deepEqual([await readiness(one), await readiness(two)], [503, 503])
      await server.start()
      const backAt = (node: Running) =>
        until(async () => (await readiness(node)) === 200, { what: 'a node that is ready again' })
      await Promise.all([backAt(one), backAt(two)])
      assert.deepEqual([await publish(one), await publish(two)], [201, 201])
      for (const node of [one, two]) {
        const page = await listEvents(node.line.url, readKey, 'pageSize=1')
        assert.equal(page.body.availableCount, before + 2)
      }
    }
    for (const node of [one, two]) assert.equal((await node.stop()).code, 0)
  })
})
