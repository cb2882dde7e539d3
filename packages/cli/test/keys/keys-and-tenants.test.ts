import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { catalogues } from '@property-events/protocol'
import { uuidV5 } from '@property-events/server/plain'
import { loadPeppers, openStorage } from '@property-events/server'
import { pepperFindings } from '../../src/doctor/check-store.ts'
import { storeFlags } from '../../src/open-store.ts'
import { settings } from '../../src/settings/settings.ts'
import { until } from '../../../server/test/support/until.ts'
import {
  listEvents,
  run,
  runJson,
  runPrinted,
  startMarket,
  start,
  removeFolder,
  temporaryFolder,
} from '../support/program.ts'
import type { Market } from '../support/program.ts'

interface KeyJson {
  readonly key: string
  readonly keyId: string
  readonly label: string
  readonly expires: string | null
  readonly revoked: string | null
  readonly rate: { readonly perSecond: number; readonly burst: number } | null
  readonly eventTypes: string | null
  readonly referenceIds: boolean
  readonly current: boolean
}

let market: Market
let data: readonly string[]
before(async () => {
  market = await startMarket()
  data = ['--data', market.folder]
})
after(() => market.close())

async function statusOf(key: string): Promise<number> {
  return (await listEvents(market.url, key)).status
}

/** A running server notices by itself. That it looks every two seconds is tested with a clock of its own (D11). */
async function becomes(key: string, status: number): Promise<void> {
  await until(async () => (await statusOf(key)) === status, { what: `status ${status}` })
}

const createKey = (...args: readonly string[]) =>
  runJson<KeyJson>(['keys', 'create', '--tenant', 'Hill & Co', '--scope', 'read', ...args, ...data])

async function publishPayloads(payloads: readonly object[], around: object = {}): Promise<void> {
  const answer = await fetch(`${market.url}/v1/property-events`, {
    method: 'POST',
    headers: { 'x-api-key': market.publishKey, 'content-type': 'application/json' },
    body: JSON.stringify(payloads.map((payload) => ({ payload, ...around }))),
  })
  assert.equal(answer.status, 201, await answer.text())
}

const uuidOf = (name: string): string => uuidV5('6f9b1f9e-6f0e-4b0a-9d4e-3a6d6e1c2b11', name)

describe('keys, while the service runs', () => {
  it('a new key works at once, a revoked one stops within two seconds (D11)', async () => {
    const { key, keyId } = await createKey('--label', 'website')
    assert.equal(await statusOf(key), 200)
    await runJson(['keys', 'revoke', keyId, ...data])
    await becomes(key, 401)
  })

  it('a key of an operator manages tenants and keys, and opens no feed (D11)', async () => {
    const { key } = await runJson<KeyJson>([
      'keys',
      'create',
      '--operator',
      '--scope',
      'admin:inspect',
      ...data,
    ])
    assert.equal(await statusOf(key), 401)
    const answer = await fetch(`${market.url}/v1/admin/tenants`, { headers: { 'x-api-key': key } })
    assert.equal(answer.status, 200)
    const wrong = await run(['keys', 'create', '--operator', '--scope', 'property:read', ...data])
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /the scopes are admin:inspect/)
  })

  it('a rotated key keeps working for the requested time, beside the new one (D11)', async () => {
    const { key, keyId } = await createKey('--label', 'rotated')
    const rotated = await runJson<KeyJson & { replaces: string; replaced: { expires: string } }>([
      'keys',
      'rotate',
      keyId,
      '--overlap',
      '7d',
      ...data,
    ])
    assert.deepEqual([rotated.label, rotated.replaces], ['rotated', keyId])
    const aheadMs = Date.parse(rotated.replaced.expires) - Date.now()
    assert(aheadMs > 6.9 * 86_400_000 && aheadMs <= 7 * 86_400_000)
    assert.deepEqual([await statusOf(key), await statusOf(rotated.key)], [200, 200])
    const atOnce = await runJson<KeyJson>(['keys', 'rotate', rotated.keyId, '--overlap', '0', ...data])
    await becomes(rotated.key, 401)
    assert.equal(await statusOf(atOnce.key), 200)
    assert.equal((await run(['keys', 'rotate', rotated.keyId, ...data])).code, 1)
  })

  it('a key can be made to end, and to live on (D11)', async () => {
    const { key, expires } = await createKey('--expires', '90d')
    assert(Math.abs(Date.parse(expires ?? '') - Date.now() - 90 * 86_400_000) < 60_000)
    assert.equal(await statusOf(key), 200)
    await runJson(['keys', 'expire', key, 'now', ...data])
    await becomes(key, 401)
    await runJson(['keys', 'expire', key, '2099-01-31', ...data])
    await becomes(key, 200)
    await runJson(['keys', 'revoke', key, ...data])
    for (const change of [
      ['expire', key, 'never'],
      ['rate', key, '5'],
    ]) {
      const { code, stderr } = await run(['keys', ...change, ...data])
      assert.equal(code, 1)
      assert.match(stderr, /was revoked/)
    }
  })

  it('a suspended tenant is locked out within two seconds, and let in again (D7)', async () => {
    const { key } = await createKey()
    await runJson(['tenants', 'suspend', 'Hill & Co', ...data])
    await becomes(key, 401)
    await runJson(['tenants', 'resume', market.tenantId, ...data])
    await becomes(key, 200)
  })

  it('the receipts of a tenant say nothing of duties by law once they are off, while the service runs (PROTOCOL §12.2)', async () => {
    const warned = async () => {
      const headers = { 'x-api-key': market.publishKey, 'content-type': 'application/json' }
      const payload = { agent_ref: uuidV5('9d0c5b1e-62f7-4c1a-8a39-f04be7d25163', 'x'), published: true }
      const address = `${market.url}/v1/property-events?dryRun=true`
      const body = JSON.stringify({ payload })
      return (await (await fetch(address, { method: 'POST', headers, body })).text()).includes(
        'material_information',
      )
    }
    assert.equal(await warned(), true)
    const off = await run(['tenants', 'duties', 'Hill & Co', 'off', ...data])
    assert.match(off.stdout, /^The receipts of tenant .* "Hill & Co" say nothing of duties by law\.$/m)
    await until(async () => !(await warned()), { what: 'no warnings' })
    assert.match((await run(['tenants', 'list', ...data])).stdout, /Hill & Co.*no warnings of duties by law/)
    const on = await runJson<{ duties: boolean }>(['tenants', 'duties', market.tenantId, 'on', ...data])
    assert.equal(on.duties, true)
    await until(warned, { what: 'warnings again' })
    const refused = await run(['tenants', 'duties', 'Hill & Co', 'maybe', ...data])
    assert.match(refused.stderr, /The setting is "maybe", but must be on or off/)
  })

  it('a tenant that leaves cannot publish, is read until the day that was said, and comes back (PROTOCOL §5.10)', async () => {
    const suspend = (...args: readonly string[]) => run(['tenants', 'suspend', 'Hill & Co', ...args, ...data])
    for (const [args, words] of [
      [['--reading-ends', '7d'], /--reading-ends goes with --unpublish/],
      [['--unpublish', '--reading-ends', 'soon'], /--reading-ends is "soon", but must be/],
      [['--unpublish', '--reading-ends', '2020-01-01'], /has passed/],
    ] as const) {
      const refused = await suspend(...args)
      assert.deepEqual([refused.code, refused.stdout], [1, ''])
      assert.match(refused.stderr, words)
    }
    const { key } = await createKey()
    const left = await suspend('--unpublish', '--reading-ends', '2099-01-31')
    assert.match(left.stdout, /is leaving\. Nothing can be published.* until 2099-01-31 00:00:00 UTC/s)
    const listed = await run(['tenants', 'list', ...data])
    assert.match(
      listed.stdout,
      /Hill & Co.*leaving: its properties are (?:being )?removed, reading ends 2099-01-31/,
    )
    const probe = async () => {
      const headers = { 'x-api-key': market.publishKey, 'content-type': 'application/json' }
      const address = `${market.url}/v1/property-events?dryRun=true`
      return (await fetch(address, { method: 'POST', headers, body: '{"payload":{}}' })).status
    }
    await until(async () => (await probe()) === 401, { what: 'publishing ends' })
    await becomes(key, 200)
    const back = await run(['tenants', 'resume', 'Hill & Co', ...data])
    assert.match(back.stdout, /^Resumed tenant .*\. Removed properties stay removed/)
    await until(async () => (await probe()) === 400, { what: 'publishing works again' })
  })

  it('the list shows every key with its state and never its text (D11)', async () => {
    const { key, keyId } = await createKey('--label', 'listed')
    const secret = key.slice('pev_'.length + 12 + 1)
    const list = await run(['keys', 'list', ...data])
    assert.equal(list.code, 0)
    const line = list.stdout.split('\n').find((one) => one.startsWith(keyId)) ?? ''
    assert.match(line, /listed +Hill & Co +property:read contact:read +active/)
    const json = await run(['keys', 'list', '--json', ...data])
    assert(!json.stdout.includes(secret) && !list.stdout.includes(secret))
    const keys = JSON.parse(json.stdout) as readonly KeyJson[]
    assert(keys.some((one) => one.keyId === keyId && one.label === 'listed' && one.revoked === null))
  })

  it('a key has the rate it is given, which the service announces, the list shows and a backup keeps (D10)', async () => {
    const policyOf = async (key: string) => {
      const address = `${market.url}/api/func/api/v1/events/getevents`
      return (await fetch(address, { headers: { 'x-api-key': key } })).headers.get('ratelimit-policy')
    }
    const { key, keyId, rate } = await createKey('--rate', '20', '--burst', '30')
    assert.deepEqual(rate, { perSecond: 20, burst: 30 })
    assert.match((await policyOf(key)) ?? '', /^"key";q=30;w=2, /)
    const listed = async (folder = market.folder) => {
      const all = await runJson<readonly KeyJson[]>(['keys', 'list', '--data', folder])
      return all.find((one) => one.keyId === keyId)?.rate
    }
    const text = await run(['keys', 'list', ...data])
    assert.match(text.stdout, new RegExp(`^${keyId} .* 20/30\\b`, 'm'))
    await runJson(['keys', 'rate', keyId, '7', ...data])
    assert.deepEqual(await listed(), { perSecond: 7, burst: 70 })
    await until(async () => (await policyOf(key))?.startsWith('"key";q=70;w=10') === true, {
      what: 'the new rate',
    })
    const copies = temporaryFolder()
    await run(['backup', join(copies, 'property-events.db'), ...data])
    assert.deepEqual(await listed(copies), { perSecond: 7, burst: 70 })
    removeFolder(copies)
    await runJson(['keys', 'rate', keyId, 'default', ...data])
    assert.equal(await listed(), null)
    const other = await createKey()
    assert.equal(other.rate, null)
    await until(async () => (await policyOf(key)) === (await policyOf(other.key)), {
      what: 'the rate of all',
    })
  })

  it('a key reads with the event types and the lists it was made for, which the list shows and a backup keeps (D12)', async () => {
    const key = await createKey('--event-types', 'published-0', '--current')
    assert.deepEqual([key.eventTypes, key.current], ['published-0', true])
    const usual = await createKey()
    assert.deepEqual([usual.eventTypes, usual.current], [null, false])
    const homes = [1, 2, 1].map((n) => ({ agent_ref: uuidOf(`home ${n}`), published: true }))
    await publishPayloads(homes)
    const listWith = async (text: string) => {
      const { body } = await listEvents(market.url, text, 'pageSize=1000')
      return body.items.map((item) => [item['transactionId'], item['eventType']])
    }
    const [one, two] = [uuidOf('home 1'), uuidOf('home 2')]
    assert.deepEqual(await listWith(usual.key), [
      [one, 2],
      [two, 2],
      [one, 0],
    ])
    assert.deepEqual(await listWith(key.key), [
      [two, 0],
      [one, 0],
    ])
    const copies = temporaryFolder()
    await run(['backup', join(copies, 'property-events.db'), ...data])
    for (const folder of [market.folder, copies]) {
      const listed = await runJson<readonly KeyJson[]>(['keys', 'list', '--data', folder])
      const { eventTypes, current } = listed.find((one) => one.keyId === key.keyId) ?? {}
      assert.deepEqual([eventTypes, current], ['published-0', true])
    }
    removeFolder(copies)
    const text = await run(['keys', 'list', ...data])
    assert.match(text.stdout, new RegExp(`^${key.keyId} .* published-0, current\\b`, 'm'))
  })

  it('a key for the public importer is shown references as transaction ids, and is proposed by its label (D12, D15)', async () => {
    const create = ['keys', 'create', '--tenant', 'Hill & Co', '--scope', 'property:read', ...data]
    const key = await runJson<KeyJson>([...create, '--reader', 'wordpress-importer'])
    assert.deepEqual([key.eventTypes, key.current, key.referenceIds], ['published-0', true, true])
    const finder = await createKey('--reference-ids')
    assert.deepEqual([finder.eventTypes, finder.current, finder.referenceIds], [null, false, true])
    const payload = { agent_ref: uuidOf('home 7'), published: true }
    await publishPayloads([payload], { transactionId: uuidOf('another') })
    const idsWith = async (text: string) => {
      const { body } = await listEvents(market.url, text, 'pageSize=1000')
      return body.items.map((item) => item['transactionId']).at(-1)
    }
    const ids = await Promise.all([key, finder, await createKey()].map((one) => idsWith(one.key)))
    assert.deepEqual(ids, [payload.agent_ref, payload.agent_ref, uuidOf('another')])
    const { stdout } = await run(['keys', 'list', ...data])
    assert.match(stdout, new RegExp(`^${key.keyId} .* published-0, current, reference-ids\\b`, 'm'))

    const said = async (...args: readonly string[]) => (await run([...create, ...args])).stderr
    assert.match(await said('--label', 'WordPress importer'), /create it with --reader wordpress-importer/)
    assert.doesNotMatch(
      await said('--label', 'WordPress importer', '--reader', 'wordpress-importer'),
      /create it with/,
    )
    assert.doesNotMatch(await said('--label', 'website'), /create it with/)
    assert.match(await said('--reader', 'wordpress'), /must be wordpress-importer/)
  })

  it('a key reads the roles and fields of contacts it was made for, which the list shows (D11)', async () => {
    const given = [
      '--scope',
      'contact:read',
      '--contact-roles',
      'landlord,vendor',
      '--contact-fields',
      'roles',
    ]
    const create = ['keys', 'create', '--tenant', 'Hill & Co', ...given, ...data]
    const { grants, keyId } = await runJson<{ readonly grants: readonly object[]; readonly keyId: string }>(
      create,
    )
    const [{ contact } = { contact: undefined }] = grants as readonly { readonly contact?: unknown }[]
    assert.deepEqual(contact, { roles: ['vendor', 'landlord'], fields: ['roles'] })
    const { stdout } = await run(['keys', 'list', ...data])
    assert.match(stdout, new RegExp(`^${keyId} .* contact:read\\(roles=vendor,landlord;fields=roles\\)`, 'm'))
  })

  it('a reading that the store or the key has no use for is refused with what to do (D12)', async () => {
    const create = ['create', '--tenant', 'Hill & Co', '--scope']
    for (const [args, said] of [
      [
        [...create, 'read', '--event-types', 'published0'],
        /must be default or published-0. Did you mean published-0/,
      ],
      [[...create, 'publish', '--current'], /are for keys that read/],
      [[...create, 'read', '--contact-roles', 'vender'], /which is not one of them.*Did you mean vendor/],
      [[...create, 'read', '--contact-fields', ','], /--contact-fields is empty/],
      [[...create, 'property:read', '--contact-fields', 'kind'], /add --scope contact:read/],
    ] as const) {
      const { code, stderr } = await run(['keys', ...args, ...data])
      assert.equal(code, 1, args.join(' '))
      assert.match(stderr, said)
    }
    const own = temporaryFolder()
    const { property, contact } = catalogues.default
    const storage = await openStorage({
      kind: 'sqlite',
      folder: own,
      create: true,
      catalogue: { property: { ...property, PropertyViewed: 7 }, contact },
    })
    await storage.close()
    await run(['tenants', 'create', 'Own', '--data', own])
    const asked = ['keys', 'create', '--tenant', 'Own', '--scope', 'read', '--data', own]
    const { code, stderr } = await run([...asked, '--event-types', 'published-0'])
    assert.equal(code, 1)
    assert.match(
      stderr,
      /for which published-0 has no number: PropertyViewed. Create the key without --event-types/,
    )
    removeFolder(own)
  })

  it('an invalid rate is refused with what is allowed, and changes nothing (D10)', async () => {
    const { keyId } = await createKey('--rate', '5')
    for (const [args, said] of [
      [['rate', keyId, '0'], /a whole number from 1 to 9999999, but "0" was given/],
      [['rate', keyId, '50/500'], /a whole number .* but "50\/500" was given/],
      [['rate', keyId, '5', '-1'], /unknown option|"5" and "-1" was given/],
      [['rate', keyId, 'default', '5'], /leave the burst out/],
      [['rate', 'nobody', '5'], /There is no key "nobody"/],
      [['create', '--tenant', 'Hill & Co', '--scope', 'read', '--burst', '5'], /--burst needs a --rate/],
      [['create', '--tenant', 'Hill & Co', '--scope', 'read', '--rate', 'fast'], /but "fast" was given/],
    ] as const) {
      const { code, stderr } = await run(['keys', ...args, ...data])
      assert.equal(code, 1, args.join(' '))
      assert.match(stderr, said)
    }
    const all = await runJson<readonly KeyJson[]>(['keys', 'list', ...data])
    assert.deepEqual(all.find((one) => one.keyId === keyId)?.rate, { perSecond: 5, burst: 50 })
  })

  it('a person gets the key alone on stdout, so that it can be piped', async () => {
    const { code, stdout } = await run([
      'keys',
      'create',
      '--tenant',
      'Hill & Co',
      '--scope',
      'property:read',
      ...data,
    ])
    assert.equal(code, 0)
    assert.match(stdout, /^pev_\w+\n$/)
  })

  it('a key may do what it was made for and no more (D11)', async () => {
    const { key } = await runJson<KeyJson>([
      'keys',
      'create',
      '--tenant',
      'Hill & Co',
      '--scope',
      'contact:read',
      ...data,
    ])
    assert.equal(await statusOf(key), 401)
    const contacts = await listEvents(market.url, key, '', '/api/func/api/v1/contactevents/getevents')
    assert.equal(contacts.status, 200)
  })

  it('a mistyped key is never repeated beyond its id, wherever it was given (D11)', async () => {
    const { key, keyId } = await createKey()
    const secret = key.slice('pev_'.length + keyId.length + 1)
    const mistyped = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`
    const given: readonly (readonly string[])[] = [
      ...[
        mistyped,
        key.slice(1),
        key.replace('pev_', ''),
        key.replace('pev_', 'pev-'),
        `${key}!`,
        secret,
      ].map((text) => ['revoke', text]),
      ['expire', mistyped, 'now'],
      ['expire', '90d', mistyped],
      ['list', '--tenant', mistyped],
      ['create', '--tenant', mistyped, '--scope', 'read'],
      ['create', '--tenant', 'Hill & Co', '--scope', mistyped],
      ['revoke', mistyped, '--debug'],
      [mistyped],
      [`--${key}`],
    ]
    await Promise.all(
      given.map(async (args) => {
        const { code, stdout, stderr } = await run(['keys', ...args, ...data])
        assert.equal(code, 1, args.join(' '))
        assert.equal(stdout, '')
        assert(!stderr.includes(secret.slice(0, 6)), `${args.join(' ')}: ${stderr}`)
      }),
    )
    const { stderr } = await run(['keys', 'revoke', mistyped, ...data])
    assert.match(stderr, new RegExp(`The key pev_${keyId}_… is mistyped.* give its id alone: ${keyId}`))
    assert.equal(await statusOf(key), 200)
  })

  it('a request that makes no sense is refused with what is allowed', async () => {
    const refused: readonly (readonly [readonly string[], RegExp])[] = [
      [['keys', 'create'], /--tenant and --scope/],
      [['keys', 'create', '--tenant', 'Hill & Co'], /--tenant and --scope/],
      [
        ['keys', 'create', '--tenant', 'Hill & Co', '--scope', 'property:reed'],
        // One sentence: that a scope is missing would be wrong.
        /Did you mean property:read\?\n$/,
      ],
      [['keys', 'create', '--tenant', 'Nobody', '--scope', 'read'], /There is no tenant "Nobody"\. `/],
      [['keys', 'list', '--tenant', 'Hil & Co'], /Did you mean "Hill & Co"\?/],
      [['keys', 'list', '--tenant', 'hill'], /Did you mean "Hill & Co"\?/],
      [
        ['keys', 'create', '--tenant', 'Hill & Co', '--scope', 'read', '--expires', '2020-01-01'],
        /has passed/,
      ],
      [['keys', 'create', '--tenant', 'Hill & Co', '--scope', 'read', '--expires', 'soon'], /90d/],
      [['keys', 'revoke', 'nosuchkey'], /There is no key "nosuchkey"/],
      [['keys', 'revoke', 'x'.repeat(13)], /is neither a key nor the id of one \(13 characters, not shown\)/],
      [['tenants', 'create', ' '], /1 to 200 characters/],
      [['tenants', 'create', 'X', '--id', '123'], /--id must be a UUID/],
      [['tenants', 'suspend', 'a\u001b[2J'], /There is no tenant "a\\u001b\[2J"/],
    ]
    await Promise.all(
      refused.map(async ([args, expected]) => {
        const { code, stdout, stderr } = await run([...args, ...data])
        assert.equal(code, 1, args.join(' '))
        assert.equal(stdout, '')
        assert.match(stderr, expected)
      }),
    )
  })
})

describe('a key made without the pepper of the others', () => {
  it('is refused, since the service would not know it, and no pepper is made; the right one helps (D11)', async () => {
    const folder = temporaryFolder()
    await runJson(['backup', join(folder, 'property-events.db'), ...data])
    const create = (environment: Readonly<Record<string, string>> = {}) =>
      run(['keys', 'create', '--tenant', 'Hill & Co', '--scope', 'read', '--data', folder], { environment })
    const missing = await create()
    assert.equal(missing.code, 1, missing.stdout)
    assert.equal(missing.stdout, '')
    assert.match(missing.stderr, /has no pepper.* PROPERTY_EVENTS_KEY_PEPPER/)
    assert(!existsSync(join(folder, 'pepper')))
    const other = await create({ PROPERTY_EVENTS_KEY_PEPPER: 'not the one of the market' })
    assert.equal(other.code, 1, other.stdout)
    assert.match(other.stderr, /No key of this store was created with this pepper/)
    writeFileSync(join(folder, 'pepper'), 'ab'.repeat(32))
    assert.equal((await create()).code, 1)
    const pepper = readFileSync(join(market.folder, 'pepper'), 'utf8').trim()
    const right = await create({ PROPERTY_EVENTS_KEY_PEPPER: pepper })
    assert.equal(right.code, 0, right.stderr)
    removeFolder(folder)
  })

  it('is made all the same when every other key is revoked: the old pepper is lost for good (D11)', async () => {
    const folder = temporaryFolder()
    await runJson(['backup', join(folder, 'property-events.db'), ...data])
    const kept = ['--data', folder]
    const keys = await runJson<readonly KeyJson[]>(['keys', 'list', ...kept])
    await Promise.all(keys.map(({ keyId }) => runJson(['keys', 'revoke', keyId, ...kept])))
    const create = ['keys', 'create', '--tenant', 'Hill & Co', '--scope', 'read', ...kept]
    const { key } = await runJson<KeyJson>(create)
    const service = await start(['serve', ...kept])
    assert.equal((await listEvents(service.line.url, key)).status, 200)
    assert.equal((await service.stop()).code, 0)
    removeFolder(folder)
  })
})

describe('tenants', () => {
  it('can bring their own id, once', async () => {
    const id = '0B5E1A4E-8A3C-4A55-9C3F-3F3F2B1A0001'
    const tenant = await runJson<{ tenantId: string }>(['tenants', 'create', 'Own Id', '--id', id, ...data])
    assert.equal(tenant.tenantId, id.toLowerCase())
    const again = await run(['tenants', 'create', 'Own Id', '--id', id, ...data])
    assert.equal(again.code, 1)
    assert.match(again.stderr, /There is a tenant .* already/)
    const list = await runJson<readonly { tenantId: string; name: string; suspended: boolean }[]>([
      'tenants',
      'list',
      ...data,
    ])
    assert.deepEqual(
      list.map((one) => one.name),
      ['Hill & Co', 'Own Id'],
    )
    assert.deepEqual(
      list.map((one) => one.suspended),
      [false, false],
    )
  })

  it('tenants are imported from a file with their keys, once, and can take another name (D11)', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'agencies.ndjson')
    const line = { reference: 'crm-1', name: 'Fenn & Co', keys: [{ label: 'W', scopes: ['property:read'] }] }
    writeFileSync(file, `${JSON.stringify(line)}\n`)
    const [made] = JSON.parse(`[${(await run(['tenants', 'import', file, ...data])).stdout.trim()}]`) as [
      { outcome: string; tenantId: string; keys: readonly { key: string }[] },
    ]
    assert.equal(made.outcome, 'created')
    assert.equal(await statusOf(made.keys[0]?.key ?? ''), 200)
    const again = await run(['tenants', 'import', file, ...data])
    assert.match(again.stdout, /"outcome":"known".*"keys":\[\]/)
    await run(['tenants', 'rename', 'Fenn & Co', 'Fenn & Sons', ...data])
    assert.equal((await run(['tenants', 'rename', 'Fenn & Sons', 'Hill & Co', ...data])).code, 1)
    writeFileSync(file, '{"reference":"x"}\n')
    const refused = await run(['tenants', 'import', file, ...data])
    assert.match(refused.stderr, /Line 1: name must be 1 to 200 characters.*Nothing was created/s)
    removeFolder(folder)
  })

  it('take a name once, and the refusal says how to continue (D11)', async () => {
    const again = await run(['tenants', 'create', 'Hill & Co', ...data])
    assert.deepEqual([again.code, again.stdout], [1, ''])
    assert.match(again.stderr, /There is a tenant "Hill & Co" already.* Choose another name/)
    const line = /: (.*keys create .*)\n$/.exec(again.stderr)?.[1] ?? ''
    const key = await runPrinted(line)
    assert.equal(key.code, 0, key.stderr)
    assert.match(key.stdout, /^pev_/)
    // Of commands that run at the same time, one gets the name.
    const made = await Promise.all(
      Array.from({ length: 4 }, () => run(['tenants', 'create', 'Same Moment', ...data])),
    )
    assert.equal(made.filter(({ code }) => code === 0).length, 1)
    const list = await runJson<readonly { name: string }[]>(['tenants', 'list', ...data])
    assert.equal(list.filter(({ name }) => name === 'Same Moment').length, 1)
  })

  it('with the same name, one of them from another store, are distinguished by their ids (D11)', async () => {
    const folder = temporaryFolder()
    const ids = ['5b1f6f0e-0000-4000-8000-000000000001', '5b1f6f0e-0000-4000-8000-000000000002']
    const before = await openStorage({
      kind: 'sqlite',
      folder,
      create: true,
      catalogue: catalogues.default,
    })
    for (const tenantId of ids) {
      const tenant = { tenantId, name: 'Twice & Co', createdMs: 1, suspended: false }
      await before.tenants.createTenant(tenant, 'cli:test', { sameName: 'allowed' })
    }
    await before.close()
    const create = ['keys', 'create', '--scope', 'read', '--data', folder, '--tenant']
    const byName = await run([...create, 'Twice & Co'])
    assert.equal(byName.code, 1)
    assert.match(byName.stderr, /Several tenants are called "Twice & Co"/)
    for (const id of ids) assert(byName.stderr.includes(id), byName.stderr)
    assert.equal((await run([...create, ids[1] ?? ''])).code, 0)
    const third = await run(['tenants', 'create', 'Twice & Co', '--data', folder])
    assert.equal(third.code, 1)
    assert.match(third.stderr, /There is a tenant "Twice & Co" already/)
    removeFolder(folder)
  })

  it('are made with a line for what comes next, which finds the same store from anywhere', async () => {
    const folder = temporaryFolder()
    const place = join(folder, "Hill's $DATA folder")
    const service = await start(['serve', '--data', place])
    assert.equal((await service.stop()).code, 0)
    const made = await run(['tenants', 'create', 'Hill & Co', '--data', place])
    const next = /^Next: (.*)\n$/m.exec(made.stdout)?.[1] ?? ''
    const { code, stdout, stderr } = await runPrinted(next, { cwd: folder })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^pev_/)
    removeFolder(folder)
  })

  it('are made without showing the password of a database again (D11)', () => {
    const shown = (database: string) => storeFlags({ database }, settings.data.fallback)
    assert.equal(shown('postgres://me@db:5432/feed'), ' --database postgres://me@db:5432/feed')
    assert.equal(
      shown('postgres://me:hunter2@db/feed?sslmode=require'),
      " --database 'postgres://me:PASSWORD@db/feed?sslmode=require'",
    )
    assert.equal(
      shown('postgres://db/feed?user=me&password=hunter2'),
      " --database 'postgres://db/feed?user=me&password=PASSWORD'",
    )
    // By their variables, or by default, both are found again without a word.
    assert.equal(storeFlags({}, settings.data.fallback), '')
  })

  it('a folder without a store is refused, and stays as it was', async () => {
    const folder = temporaryFolder()
    const { code, stderr } = await run(['tenants', 'list', '--data', join(folder, 'dta')])
    assert.equal(code, 1)
    assert.match(stderr, /There is no store in .*dta\. Check --data/)
    assert.equal(statSync(join(folder, 'dta'), { throwIfNoEntry: false }), undefined)
    removeFolder(folder)
  })
})

describe('a backup', () => {
  it('is made with a line that lets its copy continue, wherever it will be (D13)', async () => {
    const folder = temporaryFolder()
    const made = await run(['backup', join(folder, 'property-events.db'), ...data])
    const line = /^.* epoch start .*$/m.exec(made.stdout)?.[0] ?? ''
    const pasted = line.replace(' N ', ' 5000 ').replace('FOLDER', folder)
    const { code, stdout, stderr } = await runPrinted(pasted)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /greater than 5000/)
    removeFolder(folder)
  })

  it('is one file for its owner that opens as a store and waits for a new epoch (D13)', async () => {
    const folder = temporaryFolder()
    const restored = join(folder, 'restored')
    mkdirSync(restored)
    const file = join(restored, 'property-events.db')
    const { bytes } = await runJson<{ bytes: number }>(['backup', file, ...data])
    assert(bytes > 0)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const again = await run(['backup', file, ...data])
    assert.equal(again.code, 1)
    assert.match(again.stderr, /never replaces a file/)
    const nowhere = await run(['backup', join(folder, 'no', 'such', 'file'), ...data])
    assert.equal(nowhere.code, 1)
    assert.match(nowhere.stderr, /does not exist/)

    const doctor = await run(['doctor', '--json', '--port', '0', '--data', restored])
    assert.equal(doctor.code, 1)
    const findings = JSON.parse(doctor.stdout) as readonly {
      check: string
      status: string
      remedy?: string
    }[]
    const epoch = findings.find((finding) => finding.check === 'epoch')
    assert.equal(epoch?.status, 'fail')
    assert.equal(
      findings.find((finding) => finding.check === 'pepper')?.status,
      'fail',
      'its keys need the pepper',
    )

    copyFileSync(join(market.folder, 'pepper'), join(restored, 'pepper'))
    const remedy = /`(.*)`/.exec(epoch?.remedy ?? '')?.[1] ?? ''
    const begun = await runPrinted(remedy.replace(' N', ' 5000'), { cwd: folder })
    assert.equal(begun.code, 0, begun.stderr)
    const running = await start(['serve', '--data', restored])
    const { key } = await runJson<KeyJson>([
      'keys',
      'create',
      '--tenant',
      'Hill & Co',
      '--scope',
      'publish',
      '--data',
      restored,
    ])
    const agentRef = '7d1c3a54-5c1e-4c4f-8e0b-000000000001'
    const answer = await fetch(`${running.line.url}/v1/property-events`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ payload: { agent_ref: agentRef, published: true } }),
    })
    assert.equal(answer.status, 201)
    const receipt = (await answer.json()) as { events: readonly { sequenceNumber: number }[] }
    assert.equal(receipt.events[0]?.sequenceNumber, 5001)
    assert.equal((await running.stop()).code, 0)
    removeFolder(folder)
  })
})

describe('doctor', () => {
  it('finds a healthy store healthy, while the service runs', async () => {
    const findings = await runJson<readonly { check: string; status: string; detail: string }[]>([
      'doctor',
      '--port',
      new URL(market.url).port,
      ...data,
    ])
    assert.deepEqual(
      findings.map((finding) => finding.check),
      ['node', 'port', 'metrics port', 'disk space', 'flush speed', 'integrity', 'schema', 'clock', 'pepper'],
    )
    assert.deepEqual(
      findings.filter((finding) => finding.status === 'fail'),
      [],
    )
    assert.match(findings[1]?.detail ?? '', /the service of this data folder listens at http/)
  })

  it('says when only some of the keys work with the pepper (D11)', () => {
    const given = 'the pepper of this test'
    const [{ pepperId }] = loadPeppers({ folder: undefined, given })
    const statusFor = (...pepperIds: readonly string[]) =>
      pepperFindings('', { given, old: undefined }, { pepperIds, webhookSecrets: [] })[0]?.status
    assert.deepEqual(
      [statusFor(), statusFor(pepperId), statusFor('other', pepperId), statusFor('other')],
      ['ok', 'ok', 'warn', 'fail'],
    )
  })

  it('names a remedy for whatever fails, and fails with it', async () => {
    const folder = temporaryFolder()
    // Taken by a service of another folder.
    const { code, stdout } = await run(['doctor', '--data', folder, '--port', new URL(market.url).port])
    assert.equal(code, 1)
    assert.match(stdout, /^fail {2}port .* taken by another program\n +→ Stop that program/m)
    assert.match(stdout, /^warn {2}store +none in .*\n +→ Start `\S+property-events.mjs serve --data \S+`/m)
    removeFolder(folder)
  })
})

describe('a key of several tenants', () => {
  it('is made in one go, and commands name the tenant they are for (D11, PROTOCOL §2)', async () => {
    const { tenantId } = await runJson<{ tenantId: string }>(['tenants', 'create', 'Dale, North', ...data])
    const names = ['--tenant', 'Hill & Co', '--tenant', 'Dale, North', '--tenant', market.tenantId]
    const made = await run(['keys', 'create', ...names, '--scope', 'property:read', ...data])
    assert.match(made.stderr, /covers several tenants.*x-tenant.*--key-tenant/)
    const key = made.stdout.trim()
    const list = (...args: readonly string[]) =>
      run(['events', 'list', '--json', '--url', market.url, '--key', key, ...args])
    const of = async (id: string): Promise<number> =>
      (JSON.parse((await list('--key-tenant', id)).stdout) as { availableCount: number }).availableCount
    await becomesReadable(() => list('--key-tenant', tenantId))
    assert.equal(await of(tenantId), 0)
    const own = await run(['events', 'list', '--json', '--url', market.url, '--key', market.readKey])
    assert.deepEqual(JSON.parse((await list('--key-tenant', market.tenantId)).stdout), JSON.parse(own.stdout))
    const without = await list()
    assert.deepEqual([without.code, without.stdout], [1, ''])
    assert.match(without.stderr, /x-tenant/)
    assert.match((await list('--key-tenant', 'Hill & Co')).stderr, /--key-tenant.*the id of a tenant/)
    const unknown = await run([
      'keys',
      'create',
      '--tenant',
      'Hill & Co',
      '--tenant',
      'Nobody',
      '--scope',
      'read',
      ...data,
    ])
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /no tenant "Nobody"/)
  })
})

/** A key that another process has made is known within a second. */
async function becomesReadable(read: () => Promise<{ readonly code: number | null }>): Promise<void> {
  await until(async () => (await read()).code === 0, { what: 'the key works' })
}
