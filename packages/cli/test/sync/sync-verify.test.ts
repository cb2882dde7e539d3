/** `sync --verify`: what of a copy is not as its feed (PROTOCOL §14.3). */
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { until } from '../../../server/test/support/until.ts'
import { run, startMarket } from '../support/program.ts'
import type { Market } from '../support/program.ts'

let market: Market
let environment: Readonly<Record<string, string>>
before(async () => {
  market = await startMarket()
  environment = { PROPERTY_EVENTS_URL: market.url, PROPERTY_EVENTS_KEY: market.readKey }
  const events = Array.from({ length: 12 }, (_, index) => ({
    payload: { agent_ref: refOf(index), published: true, price_information: { price: 100_000 + index } },
  }))
  const response = await fetch(`${market.url}/v1/property-events`, {
    method: 'POST',
    headers: { 'x-api-key': market.publishKey, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  })
  assert.equal(response.status, 201, await response.text())
})
after(() => market.close())

const refOf = (index: number) => `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`

interface Verified {
  readonly verified: boolean
  readonly differences: readonly { readonly kind: string; readonly subjectId: string }[]
}

describe('sync --verify', () => {
  /** What was done to each copy: 1 is taken out, 2 is of another event, 99 is put in. */
  const spoilings: Readonly<Record<string, readonly [target: string, spoil: (path: string) => void]>> = {
    folder: [
      'folder',
      (path) => {
        const entry = JSON.parse(readFileSync(join(path, `${refOf(2)}.json`), 'utf8')) as object
        rmSync(join(path, `${refOf(1)}.json`))
        writeFileSync(join(path, `${refOf(2)}.json`), `${JSON.stringify({ ...entry, sequenceNumber: 1 })}\n`)
        writeFileSync(
          join(path, `${refOf(99)}.json`),
          `${JSON.stringify({ ...entry, subjectId: refOf(99) })}\n`,
        )
      },
    ],
    file: [
      'copy.ndjson',
      (path) => {
        const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
        const entries = lines.map((line) => JSON.parse(line) as { subjectId: string; sequenceNumber: number })
        const kept = entries
          .filter(({ subjectId }) => subjectId !== refOf(1))
          .map((entry) => (entry.subjectId === refOf(2) ? { ...entry, sequenceNumber: 1 } : entry))
        const surplus = { ...kept[0], subjectId: refOf(99) }
        writeFileSync(path, [...kept, surplus].map((entry) => `${JSON.stringify(entry)}\n`).join(''))
      },
    ],
    tables: [
      'sqlite:website.db',
      (path) => {
        const db = new DatabaseSync(path.replace('sqlite:', ''))
        db.exec(`DELETE FROM listings WHERE reference = '${refOf(1)}';
          UPDATE listings SET sequence_number = 1 WHERE reference = '${refOf(2)}';
          UPDATE listings SET reference = '${refOf(99)}' WHERE reference = '${refOf(3)}'`)
        db.close()
      },
    ],
  }

  for (const [kind, [name, spoil]] of Object.entries(spoilings)) {
    it(`lists what of a copy in ${kind} is not as the feed, and ends with 1 (PROTOCOL §14)`, async () => {
      const target = name.startsWith('sqlite:')
        ? `sqlite:${join(market.folder, 'website.db')}`
        : join(market.folder, name)
      const verify = (...flags: readonly string[]) =>
        run(['sync', target, '--verify', ...flags], { environment })
      const good = await verify()
      assert.equal(good.code, 0, good.stderr)
      assert.match(good.stdout, /matches its feed: 12 with the same numbers/)
      spoil(target)
      const bad = await verify()
      assert.equal(bad.code, 1)
      assert.match(bad.stdout, new RegExp(`${refOf(1)} +not in the copy; the feed shows it since event 2`))
      assert.match(bad.stdout, new RegExp(`${refOf(2)} +in the copy with event 1; the feed has event 3`))
      assert.match(
        bad.stdout,
        new RegExp(`${refOf(99)} +in the copy with event \\d+; the feed does not show it`),
      )
      assert.match(bad.stderr, /Create the copy again in an empty folder/)
      const json = await verify('--json')
      assert.equal(json.code, 1)
      const { verified, differences } = JSON.parse(json.stdout) as Verified
      assert.equal(verified, false)
      const found = differences.map((one) => `${one.kind} ${one.subjectId}`)
      const wanted = [`missing ${refOf(1)}`, `other ${refOf(2)}`, `surplus ${refOf(99)}`]
      assert.deepEqual(found, kind === 'tables' ? wanted.toSpliced(2, 0, `missing ${refOf(3)}`) : wanted)
    })
  }

  it('compares the copy of a key for one branch with what that key reads (D11, PROTOCOL §14)', async () => {
    const grant = ['--tenant', 'Hill & Co', '--scope', 'property:read', '--branch', 'Dale']
    const made = await run(['keys', 'create', ...grant, '--data', market.folder])
    assert.equal(made.code, 0, made.stderr)
    const key = made.stdout.trim()
    const response = await fetch(`${market.url}/v1/property-events`, {
      method: 'POST',
      headers: { 'x-api-key': market.publishKey, 'content-type': 'application/json' },
      body: JSON.stringify(
        [0, 1, 2].map((n) => ({
          payload: { agent_ref: refOf(500 + n), published: true, branch_id: n === 2 ? 'Fell' : 'Dale' },
        })),
      ),
    })
    assert.equal(response.status, 201, await response.text())
    const answers = async () =>
      (await fetch(`${market.url}/v1/property-events`, { headers: { 'x-api-key': key } })).status === 200
    await until(answers, { what: 'the view of the branch' })
    const folder = join(market.folder, 'of Dale')
    const verify = () =>
      run(['sync', folder, '--verify'], { environment: { ...environment, PROPERTY_EVENTS_KEY: key } })
    const good = await verify()
    assert.equal(good.code, 0, good.stderr)
    assert.match(good.stdout, /matches its feed: 2 with the same numbers/)
    rmSync(join(folder, `${refOf(501)}.json`))
    const bad = await verify()
    assert.equal(bad.code, 1)
    assert.match(bad.stdout, new RegExp(`${refOf(501)} +not in the copy`))
  })

  it('is refused if a copy is not up to date, or is not a copy', async () => {
    const folder = join(market.folder, 'other')
    const follow = await run(['sync', folder, '--verify', '--follow'], { environment })
    assert.equal(follow.code, 1)
    assert.match(follow.stderr, /--verify or --follow, not both/)
    const many = await run(['sync', 'sqlite:many.db', '--verify', '--keys', 'keys.txt'], { environment })
    assert.match(many.stderr, /--verify compares the listings of one tenant/)
  })
})
