/** Administration over HTTP: tenants, keys, the audit, and a look at feeds. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, it } from 'node:test'
import { adminScopes, scopes } from '@property-events/protocol'
import { call, publish } from '../support/http-client.ts'
import type { Answer, Call } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

type Json = Readonly<Record<string, unknown>>

function jsonOf(answer: Answer): Json {
  const value: Json = JSON.parse(answer.text)
  return value
}

function itemsOf(answer: Answer): readonly Json[] {
  const { items } = jsonOf(answer) as { readonly items?: readonly Json[] }
  assert(items !== undefined, answer.text)
  return items
}

function nextOf(answer: Answer): string | null {
  const { next } = jsonOf(answer) as { readonly next: string | null }
  return next
}

/** Sends a JSON body where there is one. */
function ask(
  service: TestService,
  key: string,
  path: string,
  body?: unknown,
  method?: string,
): Promise<Answer> {
  const options: Call = {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    key,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }
  return call(service, `/v1/admin${path}`, options)
}

function told(answer: Answer): readonly unknown[] {
  return [answer.status, jsonOf(answer)['code']]
}

onEngines('administration', {}, (service) => {
  let operator = ''
  let manager = ''
  const operatorKey = async (...held: (typeof adminScopes)[number][]) =>
    (await service().issue({ operator: true, adminScopes: held })).text
  const own = () => service().tenant.tenantId
  const foreign = () => service().otherTenant.tenantId
  const get = (path: string, key = operator) => ask(service(), key, path)
  const post = (path: string, body: unknown, key = operator) => ask(service(), key, path, body)
  const patch = (path: string, body: unknown, key = operator) => ask(service(), key, path, body, 'PATCH')
  const read = (key: string) => call(service(), '/v1/property-events', { key })
  const grantOf = (tenantId: string, ...held: string[]) => [{ tenantId, scopes: held }]

  before(async () => {
    operator = await operatorKey(...adminScopes)
    manager = (
      await service().issue({
        grants: [{ tenantId: own(), scopes: ['tenant:inspect', 'tenant:manage'] }],
      })
    ).text
  })

  it('tells any key what it may do, uncached (PROTOCOL §12.1)', async () => {
    for (const key of [operator, manager, service().tenant.readKey]) {
      const answer = await get('/self', key)
      assert.equal(answer.status, 200)
      assert.equal(answer.headers['cache-control'], 'no-store')
      assert(key.startsWith(`pev_${String(jsonOf(answer)['keyId'])}_`))
      assert(!answer.text.includes(key))
    }
    assert.deepEqual(jsonOf(await get('/self'))['scopes'], adminScopes)
    assert.equal((await call(service(), '/v1/admin/self')).status, 401)
  })

  it('makes a key, shows its text once, and lists it without (PROTOCOL §12.4, D11)', async () => {
    const made = await post('/keys', { label: 'Website', grants: grantOf(own(), 'property:read') })
    assert.equal(made.status, 201)
    const { key, keyId } = jsonOf(made)
    assert.equal(made.headers.location, `/v1/admin/keys/${String(keyId)}`)
    assert.equal((await read(String(key))).status, 200)
    const shown = await get(`/keys/${String(keyId)}`)
    assert.equal(shown.status, 200)
    assert.equal(jsonOf(shown)['key'], undefined)
    const secret = String(key).slice(17)
    for (let path = '/keys?limit=2'; ;) {
      const page = await get(path)
      assert(!page.text.includes(secret))
      const next = nextOf(page)
      if (next === null) {
        assert.equal(itemsOf(page).at(-1)?.['keyId'], keyId)
        break
      }
      path = `/keys?limit=2&after=${next}`
    }
  })

  it('changes and revokes a key, and says that an ended key has ended (PROTOCOL §12.4)', async () => {
    const made = jsonOf(await post('/keys', { grants: grantOf(own(), 'property:read') }))
    const path = `/keys/${String(made['keyId'])}`
    const change = {
      label: 'Portal',
      expiresAt: '2999-01-31T00:00:00.000Z',
      rate: { perSecond: 5, burst: 6 },
      networks: ['192.0.2.0/24'],
    }
    const changed = await patch(path, change)
    assert.equal(changed.status, 200, changed.text)
    for (const [name, value] of Object.entries(change)) assert.deepEqual(jsonOf(changed)[name], value)
    await patch(path, { networks: null, rate: null, expiresAt: null })
    const shown = jsonOf(await get(path))
    assert.deepEqual([shown['networks'], shown['rate'], shown['expiresAt']], [[], null, null])
    const revoked = await ask(service(), operator, `${path}/revoke`, undefined, 'POST')
    assert.equal(revoked.status, 200)
    assert.notEqual(jsonOf(revoked)['revokedAt'], null)
    assert.deepEqual(told(await patch(path, { label: 'x' })), [409, 'key_ended'])
    assert.deepEqual(told(await post(`${path}/rotate`, {})), [409, 'key_ended'])
    assert.deepEqual(told(await get('/keys/nobody')), [404, 'key_not_found'])
  })

  it('rotates a key: both work for the overlap, then the new one alone (PROTOCOL §12.4, D11)', async () => {
    const made = jsonOf(await post('/keys', { label: 'W', grants: grantOf(own(), 'property:read') }))
    const rotated = await post(`/keys/${String(made['keyId'])}/rotate`, { overlapHours: 2 / 3_600 })
    assert.equal(rotated.status, 201, rotated.text)
    const fresh = jsonOf(rotated)
    assert.equal(fresh['replaces'], made['keyId'])
    assert.equal(fresh['label'], 'W')
    assert.deepEqual(fresh['grants'], made['grants'])
    assert.equal((await read(String(fresh['key']))).status, 200)
    await until(async () => (await read(String(made['key']))).status === 401)
    assert.equal(jsonOf(await read(String(made['key'])))['code'], 'key_expired')
    assert.equal((await read(String(fresh['key']))).status, 200)
  })

  it('limits a key to branches, shows which, and keeps them in a rotation (PROTOCOL §2, PROTOCOL §12.4)', async () => {
    const grant = { tenantId: own(), scopes: ['property:read', 'property:publish'] }
    const made = await post('/keys', { grants: [{ ...grant, branches: ['Fell', 'Dale', 'Fell'] }] }, manager)
    assert.equal(made.status, 201, made.text)
    const { key, keyId, grants } = jsonOf(made)
    assert.deepEqual(grants, [{ ...grant, branches: ['Dale', 'Fell'] }])
    assert.deepEqual(jsonOf(await get('/self', String(key)))['grants'], grants)
    assert.deepEqual(jsonOf(await get(`/keys/${String(keyId)}`))['grants'], grants)
    const rotated = await post(`/keys/${String(keyId)}/rotate`, {})
    assert.deepEqual(jsonOf(rotated)['grants'], grants)
    const unusable: readonly (readonly [object, RegExp])[] = [
      [
        { scopes: ['property:read', 'contact:read'], branches: ['Dale'] },
        /limit property:read, property:publish, property:webhooks alone.*contact:read/,
      ],
      [{ scopes: ['tenant:inspect'], branches: ['Dale'] }, /tenant:inspect/],
      [{ scopes: ['property:erase'], branches: ['Dale'] }, /property:erase/],
      [{ branches: [] }, /1 to 100 texts/],
      [{ branches: 'Dale' }, /1 to 100 texts/],
      [{ branches: ['Dale', 7] }, /1 to 100 texts/],
      [{ branches: [''] }, /1 to 100 characters/],
      [{ branches: ['x'.repeat(101)] }, /1 to 100 characters/],
      [{ branches: ['a\nb'] }, /one line/],
      [{ branches: Array.from({ length: 101 }, (_, n) => `${n}`) }, /1 to 100 texts/],
      [{ branches: null }, /branches/],
      [{ branch: 'Dale' }, /grants must be a list/],
    ]
    for (const [fields, words] of unusable) {
      const answer = await post('/keys', { grants: [{ ...grant, ...fields }] }, manager)
      assert.deepEqual(told(answer), [400, 'invalid_body'], answer.text)
      assert.match(answer.text, words)
    }
  })

  it('makes keys for 100 different sets of branches of a tenant at most, and counts what can be used (PROTOCOL §8)', async () => {
    const { tenantId } = jsonOf(await post('/tenants', { name: `Many branches ${randomUUID()}` }))
    const make = (...branches: string[]) =>
      post('/keys', { grants: [{ tenantId, scopes: ['property:publish'], branches }] })
    const made = []
    for (let n = 0; n < 100; n += 1) made.push(jsonOf(await make(`branch ${n}`)))
    assert.deepEqual(told(await make('one more')), [400, 'invalid_body'])
    assert.equal((await make('branch 7')).status, 201, 'a set that there is')
    await ask(service(), operator, `/keys/${String(made[3]?.['keyId'])}/revoke`, undefined, 'POST')
    assert.equal((await make('one more')).status, 201)
    assert.deepEqual(told(await make('branch 3')), [400, 'invalid_body'])
  })

  it('refuses a key from another network than it was made for (PROTOCOL §2, D7)', async () => {
    const grants = [{ tenantId: own(), scopes: ['property:read'] as const }]
    const { text: elsewhere } = await service().issue({ grants, networks: ['192.0.2.0/24', '2001:db8::/32'] })
    const { text: here } = await service().issue({ grants, networks: ['127.0.0.0/8'] })
    assert.deepEqual(told(await read(elsewhere)), [401, 'key_network'])
    assert.equal((await read(here)).status, 200)
    assert.equal((await read(here)).status, 200)
  })

  it('lets nobody give what he does not hold (PROTOCOL §12.4, D11)', async () => {
    const few = await operatorKey('admin:manage')
    const operatorWith = (...held: string[]) => ({ operator: true, scopes: held })
    const cases: readonly (readonly [string, object, number])[] = [
      [few, operatorWith('admin:manage'), 201],
      [few, operatorWith('admin:inspect'), 403],
      [few, operatorWith('admin:manage', 'admin:reveal'), 403],
      [few, { grants: grantOf(own(), ...scopes) }, 201],
      [few, { grants: grantOf(own(), 'tenant:manage') }, 201],
      [few, { grants: grantOf(own(), 'tenant:inspect') }, 403],
      [operator, { grants: grantOf(own(), 'tenant:inspect') }, 201],
      [manager, { grants: grantOf(own(), ...scopes, 'tenant:inspect', 'tenant:manage') }, 201],
      [manager, operatorWith('admin:inspect'), 403],
      [manager, { grants: grantOf(foreign(), 'property:read') }, 404],
      [operator, { grants: grantOf(randomUUID(), 'property:read') }, 404],
    ]
    for (const [key, body, status] of cases) {
      const answer = await post('/keys', body, key)
      assert.equal(answer.status, status, `${JSON.stringify(body)} → ${answer.text}`)
      if (status === 403) assert.equal(jsonOf(answer)['code'], 'scope_not_held')
    }
    const strong = jsonOf(await post('/keys', operatorWith('admin:reveal', 'admin:erase')))
    const path = `/keys/${String(strong['keyId'])}`
    assert.deepEqual(told(await post(`${path}/rotate`, {}, few)), [403, 'scope_not_held'])
    assert.deepEqual(told(await patch(path, { expiresAt: null }, few)), [403, 'scope_not_held'])
    assert.deepEqual(told(await post(`${path}/rotate`, {}, manager)), [404, 'key_not_found'])
  })

  it('shows a tenant its keys, and nothing of their grants for others (PROTOCOL §12.4, P10)', async () => {
    const grants = [own(), foreign()].map((tenantId) => ({ tenantId, scopes: ['property:read'] as const }))
    const { keyId } = await service().issue({ grants })
    const { keyId: strange } = await service().issue({
      grants: [{ tenantId: foreign(), scopes: ['property:read'] }],
    })
    const seen = await get(`/keys/${keyId}`, manager)
    assert.deepEqual(jsonOf(seen)['grants'], grants.slice(0, 1))
    assert.equal((await get(`/keys/${strange}`, manager)).status, 404)
    const listed = await get('/keys?limit=200', manager)
    assert(!listed.text.includes(foreign()) && !listed.text.includes(strange) && listed.text.includes(keyId))
    assert(itemsOf(listed).every(({ operator: isOperator }) => isOperator === false))
    assert.deepEqual(told(await post(`/keys/${keyId}/revoke`, {}, manager)), [403, 'scope_not_held'])
    assert.equal((await get(`/keys?tenant=${foreign()}`, manager)).status, 404)
  })

  it('makes, finds, renames and suspends tenants (PROTOCOL §12.2)', async () => {
    const name = `Tŷ Hill & Co ${randomUUID()}`
    const reference = `crm-${randomUUID()}`
    const made = await post('/tenants', { name, reference })
    assert.equal(made.status, 201, made.text)
    const tenantId = String(jsonOf(made)['tenantId'])
    assert.equal(made.headers.location, `/v1/admin/tenants/${tenantId}`)
    assert.deepEqual(jsonOf(await get(`/tenants/${tenantId}`)), jsonOf(made))
    for (const words of [
      name.toUpperCase(),
      name.replace('Tŷ', 'ty'),
      reference.slice(4),
      tenantId.slice(0, 13),
    ]) {
      const found = itemsOf(await get(`/tenants?search=${encodeURIComponent(words)}`))
      assert.deepEqual(
        found.map((one) => one['tenantId']),
        [tenantId],
        words,
      )
    }
    assert.deepEqual(told(await post('/tenants', { name })), [409, 'tenant_exists'])
    assert.deepEqual(told(await post('/tenants', { name: 'x', reference })), [409, 'tenant_exists'])
    assert.deepEqual(told(await post('/tenants', { name: 'x', tenantId })), [409, 'tenant_exists'])
    const { text } = await service().issue({ grants: [{ tenantId, scopes: ['property:read'] }] })
    assert.equal((await read(text)).status, 200)
    const renamed = await patch(`/tenants/${tenantId}`, {
      name: `${name}!`,
      reference: null,
      suspended: true,
    })
    assert.deepEqual(jsonOf(renamed), {
      ...jsonOf(made),
      name: `${name}!`,
      reference: null,
      suspended: true,
    })
    await until(async () => (await read(text)).status === 401)
    await patch(`/tenants/${tenantId}`, { suspended: false })
    await until(async () => (await read(text)).status === 200)
    assert.deepEqual(told(await patch(`/tenants/${own()}`, { reference: 'x' }, manager)), [
      403,
      'missing_scope',
    ])
    assert.deepEqual(told(await patch(`/tenants/${own()}`, { reference: null }, manager)), [
      403,
      'missing_scope',
    ])
    assert.equal((await patch(`/tenants/${own()}`, { name: `First ${name}` }, manager)).status, 200)
  })

  it('lists tenants page by page, each once (PROTOCOL §12)', async () => {
    const seen: unknown[] = []
    for (let path = '/tenants?limit=1'; ;) {
      const page = await get(path)
      seen.push(...itemsOf(page).map((one) => one['tenantId']))
      const next = nextOf(page)
      if (next === null) break
      path = `/tenants?limit=1&after=${next}`
    }
    assert.equal(new Set(seen).size, seen.length)
    assert(seen.includes(own()) && seen.includes(foreign()))
    assert.deepEqual(
      itemsOf(await get('/tenants', manager)).map((one) => one['tenantId']),
      [own()],
    )
  })

  it('is strict: an unknown or unusable parameter is a 400 that names it (PROTOCOL §12, D19)', async () => {
    const cases: readonly (readonly [string, string])[] = [
      ['/tenants?serach=x', 'serach'],
      ['/tenants?limit=0', 'limit'],
      ['/keys?limit=201', 'limit'],
      ['/keys?after=-1', 'after'],
      ['/keys?tenant=x', 'tenant'],
      ['/tenants/x', 'tenantId'],
      ['/audit?after=x', 'after'],
      ['/audit?from=yesterday', 'from'],
      [`/tenants/${own()}/events/getevents?fom=2025-01-01`, 'fom'],
      [`/tenants/${own()}/feeds?x=1`, 'x'],
    ]
    for (const [path, parameter] of cases) {
      const answer = await get(path)
      const { errors } = jsonOf(answer) as { readonly errors?: readonly Json[] }
      assert.deepEqual([answer.status, errors?.[0]?.['parameter']], [400, parameter], path)
    }
    assert.equal((await post('/tenants', { name: 'x', nmae: 'y' })).status, 400)
    assert.equal((await post('/keys', { grants: [] })).status, 400)
    assert.equal((await post(`/keys/${'x'.repeat(12)}/rotate`, { overlapHours: 721 })).status, 400)
  })

  it('brings tenants in from a file, and the same file again makes none (PROTOCOL §12.3)', async () => {
    const run = randomUUID()
    const lines = Array.from({ length: 450 }, (_, n) => {
      const keys = n % 100 === 0 ? [{ label: 'Website', scopes: ['property:read'] }] : undefined
      return JSON.stringify({ reference: `${run}-${n}`, name: `Agency ${n} of ${run}`, keys })
    })
    const bring = (body: string) =>
      call(service(), '/v1/admin/tenants/import', {
        method: 'POST',
        key: operator,
        headers: { 'content-type': 'application/x-ndjson' },
        body,
      })
    const first = await bring(lines.join('\n'))
    assert.equal(first.status, 200, first.text.slice(0, 500))
    assert.equal(jsonOf(first)['created'], 450)
    const items = itemsOf(first)
    const [made] = (items[100] as { readonly keys: readonly Json[] }).keys
    assert.equal((await read(String(made?.['key']))).status, 200)
    const again = await bring(`${lines.join('\r\n')}\n\n`)
    assert.deepEqual([jsonOf(again)['created'], jsonOf(again)['known']], [0, 450])
    assert.equal(itemsOf(again)[7]?.['tenantId'], items[7]?.['tenantId'])
    const taken = await bring(JSON.stringify({ reference: `${run}-new`, name: `Agency 3 of ${run}` }))
    assert.equal(itemsOf(taken)[0]?.['outcome'], 'name_taken')
    for (const bad of [
      '',
      'x',
      '{"reference":"a b","name":"x"}',
      `${lines[0]}\n${lines[0]}`,
      '{"name":"x"}',
    ]) {
      assert.deepEqual(told(await bring(bad)), [400, 'invalid_body'], bad)
    }
  })

  it('shows the heads of feeds, and reads properties as their consumers do (PROTOCOL §12.5)', async () => {
    const { tenant } = service()
    const { events } = await publish(service(), { payload: property() })
    const [event] = events
    assert(event !== undefined)
    const feeds = itemsOf(await get(`/tenants/${own()}/feeds`))
    assert.deepEqual(
      feeds.map((feed) => feed['feed']),
      ['property', 'contact'],
    )
    assert.equal(feeds[0]?.['sequenceNumber'], event.sequenceNumber)
    assert.deepEqual(Object.keys((feeds[0] as { readonly counts: Json }).counts), [
      'property',
      'salesproperty',
      'lettingsproperty',
    ])
    const pairs = [
      ['/api/func/api/v1/events/getevents?pageSize=2', '/events/getevents?pageSize=2'],
      [`/api/func/api/v1/events/geteventbyid/${event.id}`, `/events/geteventbyid/${event.id}`],
      ['/v1/property-events?after=0', '/property-events?after=0'],
      ['/v1/property-events/snapshot', '/property-events/snapshot'],
      ['/v1/property-events/reduced', '/property-events/reduced'],
      [`/v1/properties/${event.transactionId}`, `/properties/${event.transactionId}`],
      [`/v1/properties/${event.transactionId}/history`, `/properties/${event.transactionId}/history`],
    ] as const
    for (const [path, under] of pairs) {
      const plain = await call(service(), path, { key: tenant.readKey })
      for (const key of [operator, manager]) {
        const shown = await get(`/tenants/${own()}${under}`, key)
        assert.equal(shown.status, 200, `${under}: ${shown.text}`)
        assert.equal(shown.text, plain.text, under)
        assert.equal(shown.headers['cache-control'], 'no-store')
        const kept = await call(service(), `/v1/admin/tenants/${own()}${under}`, {
          key,
          headers: { 'if-none-match': String(shown.headers.etag) },
        })
        if (shown.headers.etag !== undefined) {
          assert.deepEqual([kept.status, kept.headers['cache-control']], [304, 'no-store'], under)
        }
      }
    }
  })

  it('counts events bucket by bucket, as a list of each bucket would (PROTOCOL §12.5)', async () => {
    await publish(service(), [{ payload: property() }, { payload: property() }])
    const feeds = itemsOf(await get(`/tenants/${own()}/feeds`))
    const all = Number(feeds[0]?.['sequenceNumber'])
    const path = `/tenants/${own()}/feeds/property/rate`
    const counted = jsonOf(await get(`${path}?from=2020-01-01&to=2999-01-01&buckets=7`))['counts'] as number[]
    assert.equal(counted.length, 7)
    assert.equal(
      counted.reduce((sum, count) => sum + count, 0),
      all,
    )
    const today = new Date().toISOString().slice(0, 10)
    const days = jsonOf(await get(`${path}?from=${today}&to=${today}&buckets=96`))['counts'] as number[]
    const { availableCount } = jsonOf(
      await call(service(), `/api/func/api/v1/events/getevents?from=${today}&to=${today}`, {
        key: service().tenant.readKey,
      }),
    )
    assert.equal(
      days.reduce((sum, count) => sum + count, 0),
      availableCount,
    )
    for (const bad of ['', '?from=2020-01-01', '?from=2021-01-01&to=2020-01-01', '?from=x&to=2020-01-01']) {
      assert.equal((await get(`${path}${bad}`)).status, 400, bad)
    }
    assert.equal((await get(`${path}?from=2020-01-01&to=2021-01-01&buckets=201`)).status, 400)
    assert.equal((await get(`/tenants/${own()}/feeds/x/rate?from=2020-01-01&to=2021-01-01`)).status, 404)
  })

  it('masks the personal data of a contact, and reveals it to those who may see it, on record (PROTOCOL §12.7, D18)', async () => {
    const secrets = ['Fenwick', 'ida@example.org', '07700 900123', 'late payer', 'Rook Lane', 'Vasterling']
    const [last_name, email, phone, notes, address_2, unknown] = secrets
    const payload = contact({
      last_name,
      notes,
      kind: 'person',
      communications: [
        { channel: 'email', value: email, consent: { marketing: true, source: notes } },
        { channel: 'mobile', value: phone, label: notes },
      ],
      address: { address_2, town: address_2 },
      something_new: { deep: [unknown] },
    })
    const { events } = await publish(service(), { payload }, { feed: 'contact' })
    const path = `/tenants/${own()}/contacts/${events[0]?.transactionId ?? ''}`
    const linesBefore = service().logLines.length
    for (const shown of [await get(path), await get(`${path}/history`), await get(path, manager)]) {
      assert.equal(shown.status, 200, shown.text)
      for (const secret of secrets) assert(!shown.text.includes(secret), secret)
      assert(shown.text.includes('"channel":"email"') && shown.text.includes('"kind":"person"'))
      assert(shown.text.includes('"last_name":"•••"'))
    }
    const inspector = await operatorKey('admin:inspect')
    assert.deepEqual(told(await post(`${path}/reveal`, { reason: 'support' }, inspector)), [
      403,
      'missing_scope',
    ])
    assert.deepEqual(told(await post(`${path}/reveal`, { reason: 'support' }, manager)), [
      403,
      'missing_scope',
    ])
    assert.deepEqual(told(await post(`${path}/reveal`, { reason: 'curious' })), [400, 'invalid_body'])
    assert.equal(itemsOf(await get('/audit?action=contact.revealed')).length, 0)
    const revealed = await post(`${path}/reveal`, { reason: 'support' })
    assert.equal(revealed.status, 200, revealed.text)
    assert.equal(revealed.headers['cache-control'], 'no-store')
    for (const secret of secrets) assert(revealed.text.includes(secret), secret)
    const [row] = itemsOf(await get('/audit?action=contact.revealed'))
    assert.deepEqual([row?.['target'], row?.['detail']], [events[0]?.transactionId, { reason: 'support' }])
    const unseen = `/tenants/${own()}/contacts/${randomUUID()}`
    assert.deepEqual(told(await get(unseen)), [404, 'contact_not_found'])
    assert.deepEqual(told(await post(`${unseen}/reveal`, { reason: 'support' })), [404, 'contact_not_found'])
    const logged = service().logLines.slice(linesBefore).join('')
    assert(!logged.includes(events[0]?.transactionId ?? 'x'), 'the log names the contact')
  })

  it('reads the audit: all of it, that of one key, and for a tenant its own rows alone (PROTOCOL §12.6)', async () => {
    const made = jsonOf(await post('/keys', { grants: grantOf(own(), 'property:read') }))
    const keyId = String(made['keyId'])
    await patch(`/keys/${keyId}`, { label: 'x' })
    const rows = itemsOf(await get(`/audit?key=${keyId}`))
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['key.labelled', 'key.created'],
    )
    const { keyId: operatorId } = jsonOf(await get('/self'))
    assert(rows.every(({ actor }) => actor === `key:${String(operatorId)}`))
    const seen: Json[] = []
    for (let path = '/audit?limit=100'; ;) {
      const page = await get(path, manager)
      seen.push(...itemsOf(page))
      const next = nextOf(page)
      if (next === null) break
      path = `/audit?limit=100&after=${next}`
    }
    assert(seen.length > 2 && seen.every(({ tenantId }) => tenantId === own()))
    assert.equal((await get(`/audit?tenant=${foreign()}`, manager)).status, 404)
    assert.equal(itemsOf(await get('/audit?action=key.created&to=2020-01-01')).length, 0)
  })

  it('erases for an operator and for a manager who may erase, and for nobody else (PROTOCOL §12.5, D17)', async () => {
    const { events } = await publish(service(), { payload: property() })
    const subjectId = events[0]?.transactionId ?? ''
    const body = { feed: 'property', subjectId, reason: 'objection' }
    const path = `/tenants/${own()}/erasures`
    assert.deepEqual(told(await post(path, body, manager)), [403, 'missing_scope'])
    const { text: eraser } = await service().issue({
      grants: [{ tenantId: own(), scopes: ['tenant:manage', 'contact:erase'] }],
    })
    assert.deepEqual(told(await post(path, body, eraser)), [403, 'missing_scope'])
    const begun = await post(path, body)
    assert.equal(begun.status, 202, begun.text)
    const { id } = jsonOf(begun)
    assert.equal((await get(`${path}/${String(id)}`)).status, 200)
    assert.equal((await get(`/tenants/${foreign()}/erasures/${String(id)}`)).status, 404)
  })
})
