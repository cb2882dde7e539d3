/** A breach notice from two nodes, of which some are killed: who was sent what, and what nobody can say any more. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { testDatabases } from '../../../server/test/postgres/test-databases.ts'
import type { TestDatabases } from '../../../server/test/postgres/test-databases.ts'
import { makeTenant, placeOf } from '../support/make-tenant.ts'
import { removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

interface Span {
  readonly from: string
  readonly to: string
}

interface Exposure {
  readonly contacts: readonly { readonly contactRef: string; readonly certainty: string }[]
  readonly unknownTimes: readonly Span[]
}

/** Contacts of an answer, and until when it was read. */
interface Seen {
  readonly refs: readonly string[]
  readonly atMs: number
}

const list = '/api/func/api/v1/contactevents/getevents'

describe('exposure, over two nodes that are killed at times', () => {
  const root = temporaryFolder()
  let databases: TestDatabases
  const running: Running[] = []
  before(async () => {
    databases = await testDatabases()
  })
  after(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await databases[Symbol.asyncDispose]()
    removeFolder(root)
  })

  it('lists what consumers saw, and says when the rest may have been sent (D28)', async () => {
    const environment = {
      PROPERTY_EVENTS_DATABASE: await databases.create(),
      PROPERTY_EVENTS_KEY_PEPPER: 'the same on every node',
    }
    const startNode = async (name: string): Promise<Running> => {
      const args = ['--data', join(root, name), '--metrics-port', '0', '--rate-limit', 'off']
      const node = await start(['serve', ...args], { environment })
      running.push(node)
      return node
    }
    let [one, two] = [await startNode('one'), await startNode('two')]
    const { tenantId, keys } = await makeTenant(placeOf(environment), 'Hill & Co', {
      reading: ['contact:read'],
      publishing: ['contact:publish'],
    })
    const { reading, publishing } = keys
    const refs = Array.from({ length: 60 }, () => randomUUID())
    const published = await fetch(`${one.line.url}/v1/contact-events`, {
      method: 'POST',
      headers: { 'x-api-key': publishing.key, 'content-type': 'application/json' },
      body: JSON.stringify(refs.map((contact_ref) => ({ payload: { contact_ref } }))),
    })
    assert.equal(published.status, 201, await published.text())

    const readPage = async (node: Running, page: number): Promise<Seen> => {
      const answer = await fetch(`${node.line.url}${list}?page=${page}&pageSize=6`, {
        headers: { 'x-api-key': reading.key },
      })
      const text = await answer.text()
      assert.equal(answer.status, 200, text)
      const found = [...text.matchAll(/contact_ref\\":\\"([0-9a-f-]{36})/g)].map(([, ref]) => ref ?? '')
      assert.equal(found.length, 6)
      return { refs: found, atMs: Date.now() }
    }
    const kept: Seen[] = []
    const lost: Seen[] = []
    for (let round = 0; round < 2; round += 1) {
      kept.push(await readPage(one, 1 + round * 4), await readPage(one, 2 + round * 4))
      lost.push(await readPage(two, 3 + round * 4))
      // A node that is stopped adds what it has sent; one that is killed cannot.
      assert.equal((await one.stop()).code, 0)
      await two.stop('SIGKILL')
      one = await startNode('one')
      two = await startNode('two')
    }
    for (const node of [one, two]) assert.equal((await node.stop()).code, 0)

    const out = join(root, 'notice')
    const asked = ['exposure', '--key', reading.keyId, '--from', '1h', '--out', out]
    const { unknownTimes } = await runJson<Exposure>(asked, { environment })
    const [file = ''] = readdirSync(out)
    assert.equal(file, `${tenantId}.json`)
    assert.equal(statSync(join(out, file)).mode & 0o777, 0o600)
    const notice: Exposure = JSON.parse(readFileSync(join(out, file), 'utf8'))
    const noted = notice.contacts.map(({ contactRef }) => contactRef)
    assert.deepEqual(
      noted,
      kept.flatMap((seen) => seen.refs).toSorted(),
      'what was sent by nodes that were stopped, no more and no less',
    )
    assert.deepEqual(notice.unknownTimes, unknownTimes)
    assert.equal(unknownTimes.length, 2, 'one for each kill')
    for (const { atMs } of lost) {
      const isCovered = unknownTimes.some(
        ({ from, to }) => atMs >= Date.parse(from) && atMs <= Date.parse(to),
      )
      assert(isCovered, `${new Date(atMs).toISOString()} is in none of ${JSON.stringify(unknownTimes)}`)
    }

    // A key that reads no contacts has no file.
    const other = await run(
      ['exposure', '--key', publishing.key, '--from', '1h', '--out', join(root, 'other')],
      {
        environment,
      },
    )
    assert.equal(other.code, 0)
    assert(!other.stdout.includes(publishing.key))
    assert.deepEqual(readdirSync(join(root, 'other')), [])
    const rows = await runJson<readonly { action: string; target: string }[]>(
      ['audit', 'list', '--action', 'exposure.listed'],
      { environment },
    )
    assert.deepEqual(
      rows.map(({ target }) => target),
      [publishing.keyId, reading.keyId],
    )
  })

  it('is refused without a key there is, or with times that are none', async () => {
    const environment = { PROPERTY_EVENTS_DATABASE: await databases.create() }
    const node = await start(['serve', '--data', join(root, 'alone'), '--metrics-port', '0'], { environment })
    running.push(node)
    const refusalOf = async (...args: readonly string[]) =>
      (await run(['exposure', ...args, '--out', join(root, 'none')], { environment })).stderr
    assert.match(await refusalOf('--key', 'nosuchkey', '--from', '1h'), /There is no key "nosuchkey"/)
    assert.match(
      await refusalOf('--key', 'x', '--from', 'Monday'),
      /--from is "Monday", but must be a time ago/,
    )
    assert.match(
      await refusalOf('--key', 'x', '--from', '1h', '--to', '2h'),
      /--to must be later than --from/,
    )
    assert.equal((await node.stop()).code, 0)
  })
})
