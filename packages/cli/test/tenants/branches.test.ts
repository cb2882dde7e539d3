/** Keys of branches, and moving properties from one branch to another, at the command line (D11, D23). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { until } from '../../../server/test/support/until.ts'
import { run, runJson, startMarket } from '../support/program.ts'
import type { Market } from '../support/program.ts'

let market: Market
let data: readonly string[]
before(async () => {
  market = await startMarket()
  data = ['--data', market.folder]
})
after(() => market.close())

const newHome = (branch: string) => ({ agent_ref: randomUUID(), published: true, branch_id: branch })

async function publish(items: readonly object[], key = market.publishKey): Promise<number> {
  const answer = await fetch(`${market.url}/v1/property-events`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(items),
  })
  return answer.status
}

const create = (...args: readonly string[]) =>
  run(['keys', 'create', '--tenant', 'Hill & Co', '--scope', 'property:read', ...args, ...data])

/** Of the latest events of the branches of a key, once their view is there. */
async function branchesShown(key: string): Promise<readonly string[]> {
  const ask = () => fetch(`${market.url}/v1/property-events/snapshot`, { headers: { 'x-api-key': key } })
  await until(async () => (await ask()).status === 200, { what: 'the view' })
  const lines = (await (await ask()).text()).trimEnd().split('\n').slice(0, -1)
  return lines.map((line) => {
    const { payload }: { payload: string } = JSON.parse(line)
    const { branch_id: branch }: { branch_id: string } = JSON.parse(payload)
    return branch
  })
}

const move = (...args: readonly string[]) =>
  run(['branches', 'move', '--tenant', 'Hill & Co', ...args, ...data])

describe('a key of branches', () => {
  it('is made for them by name, is listed with them, and keeps them when it is rotated (D11)', async () => {
    assert.equal(
      await publish(['North', 'South', 'Low, "old"'].map((branch) => ({ payload: newHome(branch) }))),
      201,
    )
    const made = await create('--branch', 'Low, "old"', '--branch', 'North', '--json')
    const { key, keyId, grants }: { key: string; keyId: string; grants: readonly { branches: unknown }[] } =
      JSON.parse(made.stdout)
    assert.deepEqual(grants[0]?.branches, ['Low, "old"', 'North'])
    assert.deepEqual((await branchesShown(key)).toSorted(), ['Low, "old"', 'North'])
    const { stdout } = await run(['keys', 'list', ...data])
    assert.match(stdout, /branches/)
    assert.match(stdout, /Low, "old", North/)
    const rotated = await runJson<{ grants: unknown }>(['keys', 'rotate', keyId, ...data])
    assert.deepEqual(rotated.grants, grants)
    assert.equal(await publish([{ payload: newHome('North') }], key), 403, 'it was not made for publishing')
  })

  it('is refused with the values that it cannot be limited to, and says what to do (D11)', async () => {
    const refused: readonly [readonly string[], RegExp][] = [
      [
        ['--branch', 'North', '--scope', 'contact:read'],
        /--branch limits property:read, property:publish, property:webhooks alone/,
      ],
      [['--branch', 'North', '--scope', 'property:erase'], /Create another key for property:erase/],
      [['--branch', 'North', '--tenant', 'Other'], /--branch goes with one --tenant/],
      [['--branch', ''], /1 to 100 characters/],
      [['--branch', 'x'.repeat(101)], /1 to 100 characters/],
    ]
    for (const [args, words] of refused) {
      const { code, stderr, stdout } = await create(...args)
      assert.deepEqual([code, stdout], [1, ''], stderr)
      assert.match(stderr, words)
    }
  })
})

describe('branches move', () => {
  it('counts first, then has all published properties of a branch in another one, and changes no other (D23)', async () => {
    const homes = Array.from({ length: 230 }, () => newHome('Dale'))
    assert.equal(await publish(homes.map((payload) => ({ payload }))), 201)
    assert.equal(
      await publish([{ payload: newHome('dale') }, { remove: { agentRef: homes[0]?.agent_ref } }]),
      201,
    )
    const [from, to] = [
      (await create('--branch', 'Dale')).stdout.trim(),
      (await create('--branch', 'Fell')).stdout.trim(),
    ]
    assert.equal((await branchesShown(from)).length, 230)
    const counted = await move('--from', 'Dale', '--to', 'Fell', '--dry-run')
    assert.equal(counted.stdout, '229 properties would be moved from "Dale" to "Fell".\n')
    assert.equal((await branchesShown(to)).length, 0)
    const moved = JSON.parse((await move('--from', 'Dale', '--to', 'Fell', '--json')).stdout)
    assert.deepEqual([moved.properties, moved.dryRun], [229, false])
    await until(async () => (await branchesShown(to)).length === 229, { what: 'all of them' })
    assert.equal((await branchesShown(from)).length, 1, 'the one that was removed there before')
    const again = await move('--from', 'Dale', '--to', 'Fell')
    assert.match(again.stdout, /^0 properties moved from "Dale" to "Fell"\. A name must be exactly/)
    const rows = await runJson<readonly { detail: { properties: number } }[]>([
      'audit',
      'list',
      '--action',
      'branch.moved',
      ...data,
    ])
    const steps = rows.map(({ detail }) => detail.properties)
    assert.equal(
      steps.reduce((sum, properties) => sum + properties, 0),
      229,
    )
    assert.ok(steps.every((properties) => properties <= 100))
  })

  it('names the fault, and moves nothing while publishing is stopped (P11)', async () => {
    assert.equal(await publish([{ payload: newHome('East') }]), 201)
    for (const [args, words] of [
      [['--from', 'East', '--to', 'East'], /the same branch/],
      [['--from', 'East', '--to', ''], /--to must be a branch_id/],
      [['--from', 'East'], /--to/],
    ] as const) {
      const { code, stderr } = await move(...args)
      assert.equal(code, 1)
      assert.match(stderr, words)
    }
    await run(['maintenance', 'on', ...data])
    const stopped = await move('--from', 'East', '--to', 'West')
    await run(['maintenance', 'off', ...data])
    assert.equal(stopped.code, 1)
    assert.match(stopped.stderr, /Maintenance is on.*0 properties moved so far.*same command again/s)
    assert.equal(
      (await move('--from', 'East', '--to', 'West')).stdout,
      '1 property moved from "East" to "West".\n',
    )
  })
})
