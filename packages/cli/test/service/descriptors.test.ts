/** A service with few descriptors: connections beyond them are told so, and neither the store nor those that are there notice. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { listPath } from '../../../server/test/support/http-client.ts'
import { until } from '../../../server/test/support/until.ts'
import { makeTenant } from '../support/make-tenant.ts'
import { removeFolder, start, temporaryFolder } from '../support/program.ts'
import type { ServiceLine } from '../support/program.ts'

/** The limit that counts is the hard one: Node raises the other to it. */
const openFiles = 120

describe('a service that may open few files', { skip: process.platform === 'win32' }, () => {
  it('refuses connections before it runs out of them, logs this in two lines, serves those it has, and continues (D9)', async () => {
    const data = temporaryFolder()
    const store = ['--data', data]
    const running = await start(['serve', ...store, '--drain', '0'], { openFiles })
    const service = running.line
    const { keys } = await makeTenant({ data }, 'Hill & Co', { read: ['read'], publish: ['publish'] })
    const [read, publish] = [keys.read.key, keys.publish.key]
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = (path: string, key: string, body?: string) => answerOf(service, agent, path, key, body)
    const isServed = async (): Promise<void> => {
      const event = JSON.stringify({ payload: { agent_ref: randomUUID(), published: true } })
      assert.equal(await ask('/v1/property-events', publish, event), 201)
      assert.equal(await ask(`${listPath}?pageSize=1`, read), 200)
    }
    await isServed()
    const sockets: Socket[] = []
    let refused = 0
    for (let count = 0; count < 3 * openFiles; count += 1) sockets.push(silent(service, () => (refused += 1)))
    await until(() => refused > openFiles, { what: 'refusals' })
    // By the connection that was there before, and on the port of the operator.
    for (let round = 0; round < 5; round += 1) await isServed()
    const { hostname, port } = new URL(service.metricsUrl)
    const ready = await fetch(`http://${hostname}:${port}/readyz`)
    assert.equal(ready.status, 200, await ready.text())
    for (const socket of sockets) socket.destroy()
    const fresh = async () => (await answerOf(service, false, `${listPath}?pageSize=1`, read)) === 200
    await until(() => fresh().catch(() => false), { what: 'a new connection' })
    await isServed()
    agent.destroy()
    const { code, stderr } = await running.stop()
    removeFolder(data)
    assert.equal(code, 0, stderr)
    const told = stderr.split('\n').filter((line) => /connections/.test(line))
    assert.match(told[0] ?? '', /fewer connections are taken than --max-connections says/)
    assert.match(told[1] ?? '', /connections are refused/)
    assert.match(told[2] ?? '', /connections are taken again/)
    assert.doesNotMatch(stderr, /EMFILE|unable to open|"level":5/)
  })
})

/** Says nothing. `onEnd`: when the other side has ended it. */
function silent({ url }: ServiceLine, onEnd: () => void): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  return socket
    .on('error', () => undefined)
    .once('close', onEnd)
    .resume()
}

function answerOf(
  { url }: ServiceLine,
  agent: Agent | false,
  path: string,
  key: string,
  body?: string,
): Promise<number | undefined> {
  const headers = { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  return new Promise((resolve, reject) => {
    const asking = request(
      `${url}${path}`,
      { agent, method: body === undefined ? 'GET' : 'POST', headers },
      (answer) => {
        answer
          .resume()
          .on('end', () => resolve(answer.statusCode))
          .on('error', reject)
      },
    )
    asking.on('error', reject).end(body)
  })
}
