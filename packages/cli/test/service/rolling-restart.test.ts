/** Two nodes behind a real nginx, set up as deploy/nginx says, and restarted one after the other under load. */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { testDatabases } from '../../../server/test/postgres/test-databases.ts'
import type { TestDatabases } from '../../../server/test/postgres/test-databases.ts'
import { needsNginx, startNginx } from '../../../server/test/support/nginx.ts'
import { until } from '../../../server/test/support/until.ts'
import { freePorts } from '../../../server/test/support/free-ports.ts'
import { makeTenant, placeOf } from '../support/make-tenant.ts'
import { listEvents, removeFolder, runJson, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

const restarts = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1' ? 20 : 2

describe('a rolling restart behind nginx', { skip: needsNginx }, () => {
  const root = temporaryFolder()
  const running: Running[] = []
  let databases: TestDatabases
  let proxy: ChildProcess | undefined
  before(async () => {
    databases = await testDatabases()
  })
  after(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    // Killed at once it would leave its worker behind.
    if (proxy?.exitCode === null && proxy.kill('SIGTERM')) await once(proxy, 'exit')
    await databases[Symbol.asyncDispose]()
    removeFolder(root)
  })

  it('loses no request, neither a read nor a publication (P6, P7)', async () => {
    const environment = {
      PROPERTY_EVENTS_DATABASE: await databases.create(),
      PROPERTY_EVENTS_KEY_PEPPER: 'the same on every node',
    }
    const [front = 0, one = 0, two = 0] = await freePorts(3)
    const nodePorts = [one, two] as const
    const startNode = async (port: number): Promise<Running> => {
      const args = ['--data', join(root, String(port)), '--port', String(port), '--metrics-port', '0']
      const node = await start(['serve', ...args, '--drain', '1s', '--rate-limit', 'off'], { environment })
      running.push(node)
      return node
    }
    const nodes = new Map<number, Running>()
    for (const port of nodePorts) nodes.set(port, await startNode(port))
    proxy = await startNginx(root, front, nodePorts)
    const wanted = { read: ['read'], publish: ['publish'] }
    const { keys } = await makeTenant(placeOf(environment), 'Hill & Co', wanted)
    const [readKey, publishKey] = [keys.read.key, keys.publish.key]

    const url = `http://127.0.0.1:${front}`
    const over = new AbortController()
    const lost: string[] = []
    const acknowledged = new Set<string>()
    let reads = 0
    const noteLoss = (what: string) => lost.push(what)
    const publish = async (): Promise<void> => {
      const id = randomUUID()
      const answer = await fetch(`${url}/v1/property-events`, {
        method: 'POST',
        headers: { 'x-api-key': publishKey, 'content-type': 'application/json' },
        body: JSON.stringify({ id, payload: { agent_ref: randomUUID(), published: true } }),
      })
      if (answer.status === 201) acknowledged.add(id)
      else noteLoss(`publishing: ${answer.status} ${await answer.text()}`)
    }
    const read = async (): Promise<void> => {
      const { status, body } = await listEvents(url, readKey, 'pageSize=5')
      if (status !== 200) noteLoss(`reading: ${status} ${JSON.stringify(body)}`)
      reads += 1
    }
    const repeat = async (ask: () => Promise<void>): Promise<void> => {
      while (!over.signal.aborted) {
        await ask().catch((error: unknown) => noteLoss(String(error)))
        await delay(2)
      }
    }
    const load = [publish, publish, publish, read, read, read].map(repeat)
    for (let restart = 0; restart < restarts; restart += 1) {
      const port = nodePorts[restart % nodePorts.length] ?? 0
      const [published, read] = [acknowledged.size, reads]
      const goesOn = () => acknowledged.size > published + 30 && reads > read + 30
      await until(goesOn, { what: 'a load that goes on' })
      const node = nodes.get(port)
      const stopped = await node?.stop()
      assert.equal(stopped?.code, 0, String(stopped?.stderr))
      nodes.set(port, await startNode(port))
    }
    over.abort()
    await Promise.all(load)
    assert.deepEqual(lost, [])
    const stored = await runJson<unknown[]>(['keys', 'list'], { environment })
    assert.equal(stored.length, 2)
    const { body } = await listEvents(url, readKey, 'pageSize=1')
    assert.equal(body.availableCount, acknowledged.size, 'each stored once')
    for (const node of nodes.values()) assert.equal((await node.stop('SIGINT')).code, 0)
  })
})
