/** One request never takes a node from everybody else: a server with a small heap, and bodies that cost nothing to send. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { hostileBodies } from '../../../server/test/support/hostile-bodies.ts'
import type { HostileBody } from '../../../server/test/support/hostile-bodies.ts'
import { call, listPath, problemOf } from '../../../server/test/support/http-client.ts'
import { removeFolder, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

const path = '/v1/property-events'
/** Only the router takes this spelling. */
const absolute = `http://127.0.0.1${path}`
/** Reading is the same either way; how a body of 16 MB comes together is not. */
const routed = /million lines|line feeds|\{\},|one object|MB of blanks$|depth 8|one string|17 MB/

/** Bodies that take seconds: in the short run one of their kind is enough. */
const slow = /full of (?:numbers|escapes)|payload texts of 256 KiB|full of members/
const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'

describe('a server with a heap of 256 MB', () => {
  let running: Running
  let folder = ''
  let port = 0
  let keys = { readKey: '', publishKey: '' }

  before(async () => {
    folder = temporaryFolder()
    // Pages are read as fast as they come, for as long as the machine takes for the bodies.
    running = await start(['demo', '--no-live', '--data', folder, '--rate-limit', 'off'], {
      nodeArguments: ['--max-old-space-size=256'],
    })
    port = Number(new URL(running.line.url).port)
    keys = running.line.tenants?.[0] ?? keys
  })
  after(async () => {
    const { code, stderr } = await running.stop()
    removeFolder(folder)
    assert.equal(code, 0, stderr)
  })

  const send = ({ make, format }: HostileBody, target: string, key = keys.publishKey) =>
    call({ port }, target, {
      method: 'POST',
      key,
      headers: { 'content-type': format === 'json' ? 'application/json' : 'application/x-ndjson' },
      body: make(),
    })

  /** Asks for a page again and again until the work is done; how often it was answered. */
  async function readBeside<T>(work: Promise<T>): Promise<{ answers: number; result: T }> {
    const state = { done: false }
    const finished = work.finally(() => (state.done = true))
    let answers = 0
    for (; !state.done; answers += 1) {
      const { status } = await call({ port }, `${listPath}?pageSize=1`, { key: keys.readKey })
      assert.equal(status, 200)
    }
    return { answers, result: await finished }
  }

  for (const body of hostileBodies.filter(({ name }) => isLong || !slow.test(name))) {
    for (const target of routed.test(body.name) ? [path, absolute] : [path]) {
      it(`refuses ${body.name}, sent to ${target}, while pages are read (D9, P11)`, async () => {
        const { answers, result } = await readBeside(send(body, target))
        assert.equal(result.status, body.status, result.text.slice(0, 500))
        const { code, detail, errors } = problemOf(result)
        const [first] = errors ?? []
        assert.equal(first === undefined ? code : `${first.pointer} ${first.code}`, body.fault)
        assert.ok((first?.message ?? detail).length > 20)
        assert.ok(answers > 0)
        assert.ok(result.body.length < 100_000)
      })
    }
  }

  it('reads many of them at once beside an ordinary publication (D9)', async () => {
    const event = { payload: { agent_ref: '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10', published: true } }
    // A key may have one body of 16 MB under way.
    const publishKeys = running.line.tenants?.map(({ publishKey }) => publishKey) ?? []
    assert.ok(publishKeys.length > 1)
    const chosen = hostileBodies.filter(({ status }) => status === 400).slice(0, publishKeys.length)
    const many = chosen.map((body, index) => send(body, path, publishKeys[index]))
    const ordinary = call({ port }, path, {
      method: 'POST',
      key: keys.publishKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
    })
    const { result } = await readBeside(Promise.all([...many, ordinary]))
    assert.deepEqual(
      result.map(({ status }) => status),
      [...chosen.map(() => 400), 201],
    )
  })
})
