/** The operations on webhooks over HTTP (PROTOCOL §16.1): made, listed, changed, deleted, and by whom. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import type { ChangedWebhook, Webhook, WebhookChange, Webhooks } from '@property-events/protocol/wire'
import { problemOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { ask, makeWebhook, publicUrl, webhookKey } from '../support/webhooks.ts'

function webhookIn(answer: Answer): Webhook {
  assert.equal(answer.status, 200, answer.text)
  const webhook: Webhook = JSON.parse(answer.text)
  return webhook
}

function listIn(answer: Answer): Webhooks {
  assert.equal(answer.status, 200, answer.text)
  const list: Webhooks = JSON.parse(answer.text)
  return list
}

function refusal(answer: Answer): readonly [number, string | undefined] {
  return [answer.status, problemOf(answer).code]
}

onEngines('webhooks', {}, (service) => {
  it('are made with the usual settings, from the end of the feed, and show their secret once (PROTOCOL §16.1)', async () => {
    const key = await webhookKey(service())
    const { events } = await publish(service(), { payload: property() })
    const answer = await ask(service(), key, 'POST', '', { url: publicUrl, feed: 'property' })
    assert.equal(answer.status, 201, answer.text)
    const { secret, ...made } = JSON.parse(answer.text) as Webhook & { readonly secret: string }
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.equal(answer.headers.location, `/v1/webhooks/${made.id}`)
    const { id, createdAt, cursor, secrets, ...rest } = made
    assert.deepEqual(rest, {
      tenantId: service().tenant.tenantId,
      feed: 'property',
      events: 'feed',
      url: publicUrl,
      label: '',
      apiEventType: 'property',
      payload: 'full',
      changes: false,
      mode: 'every',
      format: 'event',
      concurrency: 4,
      maxPerSecond: null,
      timeoutSeconds: 15,
      state: 'enabled',
      reason: null,
      stateSince: null,
      keyId: key.split('_')[1],
      waiting: 0,
      givenUp: 0,
      failingSince: null,
    })
    assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 600_000)
    assert.equal(cursor.settled, events.at(-1)?.sequenceNumber)
    assert.deepEqual([cursor.acknowledged, cursor.acknowledgedAt], [null, null])
    assert.equal(secrets.length, 1)
    assert.deepEqual(webhookIn(await ask(service(), key, 'GET', `/${id}`)), made)
    assert.ok(listIn(await ask(service(), key, 'GET')).items.some((one) => one.id === id))
    const everything = await ask(service(), key, 'GET')
    assert.ok(!everything.text.includes(secret))
  })

  it('are made with every setting, and changed one by one (PROTOCOL §16.1)', async () => {
    const key = await webhookKey(service())
    const settings = {
      label: 'Gwefan Caerdydd – £ 🏠',
      apiEventType: 'salesproperty',
      payload: 'thin',
      mode: 'latest',
      format: 'cloudevents',
      concurrency: 16,
      maxPerSecond: 1_000,
      timeoutSeconds: 30,
    } as const
    const made = await makeWebhook(service(), key, { ...settings, after: 0 })
    const { secret: _, ...shown } = made
    assert.deepEqual(shown, { ...shown, ...settings })
    assert.equal(made.cursor.settled, 0)
    const changes: readonly WebhookChange[] = [
      { url: 'https://[2606:4700::1111]:8443/' },
      { label: '' },
      { apiEventType: 'lettingsproperty' },
      { payload: 'full', changes: true },
      { mode: 'every' },
      { format: 'event' },
      { concurrency: 1, maxPerSecond: 1, timeoutSeconds: 1 },
    ]
    let expected: object = shown
    for (const change of changes) {
      expected = { ...expected, ...change }
      const answer = await ask(service(), key, 'PATCH', `/${made.id}`, change)
      assert.deepEqual(webhookIn(answer), expected)
    }
    const lifted = await ask(service(), key, 'PATCH', `/${made.id}`, { maxPerSecond: null })
    assert.equal(webhookIn(lifted).maxPerSecond, null)
    const spelled = await ask(service(), key, 'PATCH', `/${made.id}`, {
      apiEventType: 'Sales-Property Events',
    })
    assert.equal(webhookIn(spelled).apiEventType, 'salesproperty')
  })

  it('of contacts are thin, and say so of every other wish (PROTOCOL §16.2)', async () => {
    const key = await webhookKey(service())
    const made = await makeWebhook(service(), key, { feed: 'contact' })
    assert.deepEqual([made.payload, made.apiEventType], ['thin', 'contact'])
    for (const wish of [{ payload: 'full' }, { changes: true }]) {
      const body = { url: publicUrl, feed: 'contact', ...wish }
      assert.deepEqual(refusal(await ask(service(), key, 'POST', '', body)), [400, 'invalid_body'])
      assert.deepEqual(refusal(await ask(service(), key, 'PATCH', `/${made.id}`, wish)), [
        400,
        'invalid_body',
      ])
    }
  })

  it('refuse everything that is not exactly a webhook, and say what is allowed (P11, D18)', async () => {
    const key = await webhookKey(service())
    const good = { url: publicUrl, feed: 'property' }
    const { id } = await makeWebhook(service(), key)
    const settings: readonly (readonly [object, string, RegExp])[] = [
      [{ url: 7 }, '/url', /text/],
      [{ label: 'x'.repeat(201) }, '/label', /at most 200/],
      [{ label: 'a\u0007b' }, '/label', /control/],
      [{ apiEventType: 'contact' }, '/apiEventType', /property, salesproperty, lettingsproperty/],
      [{ payload: 'whole' }, '/payload', /full, thin/],
      [{ changes: 'yes' }, '/changes', /true or false/],
      [{ changes: true, payload: 'thin' }, '/changes', /full payloads/],
      [{ mode: 'last' }, '/mode', /every, latest/],
      [{ format: 'xml' }, '/format', /event, cloudevents/],
      [{ concurrency: 0 }, '/concurrency', /1 to 16/],
      [{ concurrency: 17 }, '/concurrency', /1 to 16/],
      [{ concurrency: 1.5 }, '/concurrency', /whole number/],
      [{ concurrency: '4' }, '/concurrency', /whole number/],
      [{ maxPerSecond: 0 }, '/maxPerSecond', /1 to 1000/],
      [{ timeoutSeconds: 31 }, '/timeoutSeconds', /1 to 30/],
      [{ secret: 'whsec_mine' }, '/secret', /Allowed/],
    ]
    const create: readonly (readonly [object, string, RegExp])[] = [
      ...settings.map(([wish, pointer, words]) => [{ ...good, ...wish }, pointer, words] as const),
      [{ feed: 'property' }, '/url', /address/],
      [{ url: publicUrl }, '/feed', /property, contact/],
      [{ ...good, feed: 'properties' }, '/feed', /property, contact/],
      [{ ...good, events: 'all' }, '/events', /feed, operations/],
      [{ ...good, after: -1 }, '/after', /head/],
      [{ ...good, after: 'tail' }, '/after', /head/],
      [{ ...good, events: 'operations', mode: 'latest' }, '/apiEventType', /operations/],
      [{ ...good, state: 'paused' }, '/state', /Allowed/],
      [[], '', /object/],
    ]
    const change: readonly (readonly [object, string, RegExp])[] = [
      ...settings,
      [{ label: null }, '/label', /cannot be removed/],
      [{ state: 'disabled' }, '/state', /enabled, paused/],
      [{ feed: 'contact' }, '/feed', /Allowed/],
    ]
    for (const [method, path, cases] of [
      ['POST', '', create],
      ['PATCH', `/${id}`, change],
    ] as const) {
      for (const [body, pointer, words] of cases) {
        const answer = await ask(service(), key, method, path, body)
        assert.deepEqual(refusal(answer), [400, 'invalid_body'], JSON.stringify(body))
        const [fault] = problemOf(answer).errors ?? []
        assert.equal(fault?.pointer, pointer, answer.text)
        assert.match(fault?.message ?? '', words)
      }
    }
  })

  it('refuse addresses that are not public, by their shape and by where they lead (PROTOCOL §16.1)', async () => {
    const key = await webhookKey(service())
    const { id, url } = await makeWebhook(service(), key)
    const addresses = [
      '',
      'bachau',
      'http://8.8.8.8/',
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://[::7f00:1]/',
      'https://[64:ff9b::7f00:1]/',
      'https://10.0.0.1/',
      'https://169.254.169.254/latest/meta-data',
      'https://0x7f.1/',
      'https://me:secret@8.8.8.8/',
      'https://8.8.8.8:22/',
      'https://8.8.8.8/#rhan',
      `https://8.8.8.8/${'a'.repeat(2_048)}`,
      'https://localhost/',
    ]
    for (const address of addresses) {
      const made = await ask(service(), key, 'POST', '', { url: address, feed: 'property' })
      assert.deepEqual(refusal(made), [400, 'webhook_address_refused'], address)
      const changed = await ask(service(), key, 'PATCH', `/${id}`, { url: address })
      assert.deepEqual(refusal(changed), [400, 'webhook_address_refused'], address)
    }
    assert.equal(webhookIn(await ask(service(), key, 'GET', `/${id}`)).url, url)
  })

  it('begin nowhere beyond the end of the feed (PROTOCOL §11.2)', async () => {
    const key = await webhookKey(service())
    const body = { url: publicUrl, feed: 'property', after: Number.MAX_SAFE_INTEGER }
    assert.deepEqual(refusal(await ask(service(), key, 'POST', '', body)), [409, 'cursor_beyond_head'])
    const of = { ...body, events: 'operations', after: 1_000_000 }
    assert.deepEqual(refusal(await ask(service(), key, 'POST', '', of)), [409, 'cursor_beyond_head'])
    const made = await makeWebhook(service(), key, { events: 'operations' })
    assert.equal(made.cursor.settled, 0)
  })

  it('are 50 of a tenant at most, whoever makes them (PROTOCOL §16.1)', async () => {
    const { otherTenant } = service()
    const key = await webhookKey(service(), { tenantId: otherTenant.tenantId })
    const before = listIn(await ask(service(), key, 'GET', '?limit=200')).items.length
    for (let made = before; made < 50; made += 1) await makeWebhook(service(), key)
    const body = { url: publicUrl, feed: 'property' }
    const refused = await ask(service(), key, 'POST', '', body)
    assert.deepEqual(refusal(refused), [409, 'webhook_limit'])
    assert.match(problemOf(refused).detail ?? '', /50/)
    const pages = []
    for (let after: string | null = ''; after !== null;) {
      const query: string = after === '' ? '?limit=20' : `?limit=20&after=${after}`
      const page: Webhooks = listIn(await ask(service(), key, 'GET', query))
      pages.push(page.items.map(({ id }) => id))
      after = page.next
    }
    assert.deepEqual(
      pages.map((page) => page.length),
      [20, 20, 10],
    )
    assert.deepEqual(pages.flat(), pages.flat().toSorted())
    const [first = ''] = pages.flat()
    assert.equal(webhookIn(await ask(service(), key, 'DELETE', `/${first}`)).id, first)
    assert.deepEqual(refusal(await ask(service(), key, 'GET', `/${first}`)), [404, 'webhook_not_found'])
    await makeWebhook(service(), key)
  })

  it('are paused, and enabled where they stood (PROTOCOL §16.1)', async () => {
    const key = await webhookKey(service())
    const made = await makeWebhook(service(), key, { after: 0 })
    const paused = webhookIn(await ask(service(), key, 'PATCH', `/${made.id}`, { state: 'paused' }))
    assert.deepEqual([paused.state, paused.reason], ['paused', 'asked'])
    assert.ok(Math.abs(Date.parse(paused.stateSince ?? '') - Date.now()) < 600_000)
    const again = webhookIn(await ask(service(), key, 'PATCH', `/${made.id}`, { state: 'paused' }))
    assert.equal(again.stateSince, paused.stateSince)
    const enabled = await ask(service(), key, 'PATCH', `/${made.id}`, { state: 'enabled' })
    const { state, reason, cursor, secret } = JSON.parse(enabled.text) as ChangedWebhook
    assert.deepEqual([state, reason, cursor.settled, secret], ['enabled', null, 0, undefined])
  })

  it('are seen by keys of their tenant that read as much, and by no others (P10, PROTOCOL §16.1)', async () => {
    const { tenant, otherTenant } = service()
    const { tenantId } = tenant
    const all = await webhookKey(service())
    const dale = await webhookKey(service(), { feeds: ['property'], branches: ['Dale'] })
    const both = await webhookKey(service(), { feeds: ['property'], branches: ['Dale', 'Fell'] })
    const buyers = await webhookKey(service(), { feeds: ['contact'], contact: { roles: ['buyer'] } })
    const foreign = await webhookKey(service(), { tenantId: otherTenant.tenantId })
    const { text: blind } = await service().issue({ grants: [{ tenantId, scopes: ['property:webhooks'] }] })
    const made = {
      all: (await makeWebhook(service(), all)).id,
      both: (await makeWebhook(service(), both)).id,
      dale: (await makeWebhook(service(), dale)).id,
      contacts: (await makeWebhook(service(), all, { feed: 'contact' })).id,
      buyers: (await makeWebhook(service(), buyers, { feed: 'contact' })).id,
    }
    const sees: readonly (readonly [string, readonly (keyof typeof made)[]])[] = [
      [all, ['all', 'both', 'dale', 'contacts', 'buyers']],
      [both, ['both', 'dale']],
      [dale, ['dale']],
      [buyers, ['buyers']],
      [blind, ['all', 'both', 'dale']],
      [foreign, []],
    ]
    const rest = [
      ['GET', ''],
      ['PATCH', ''],
      ['POST', '/secrets'],
      ['POST', '/test'],
      ['POST', '/cursor'],
      ['POST', '/resend'],
      ['GET', '/deliveries'],
      ['GET', '/waiting'],
      ['DELETE', ''],
    ] as const
    for (const [key, seen] of sees) {
      const listed = listIn(await ask(service(), key, 'GET', '?limit=200')).items.map(({ id }) => id)
      for (const [name, id] of Object.entries(made)) {
        const isSeen = seen.some((one) => one === name)
        assert.equal(listed.includes(id), isSeen, name)
        if (isSeen) assert.equal(webhookIn(await ask(service(), key, 'GET', `/${id}`)).id, id)
        else
          for (const [method, path] of rest) {
            const body = method === 'GET' ? undefined : {}
            const answer = await ask(service(), key, method, `/${id}${path}`, body)
            assert.deepEqual(refusal(answer), [404, 'webhook_not_found'], `${method} ${path}`)
          }
      }
    }
    const nowhere = await ask(service(), all, 'GET', `/${randomUUID()}`)
    assert.deepEqual(refusal(nowhere), [404, 'webhook_not_found'])
    assert.deepEqual(refusal(await ask(service(), all, 'GET', '/bachau')), [400, 'invalid_parameter'])
  })

  it('are made and pointed elsewhere only with the scope to read the feed (PROTOCOL §16.1)', async () => {
    const { tenantId } = service().tenant
    const { id, url } = await makeWebhook(service(), await webhookKey(service()))
    const { text: key } = await service().issue({
      grants: [{ tenantId, scopes: ['property:webhooks', 'contact:read'] }],
    })
    for (const feed of ['property', 'contact']) {
      const refused = await ask(service(), key, 'POST', '', { url: publicUrl, feed })
      assert.deepEqual(refusal(refused), [403, 'missing_scope'])
      assert.match(
        problemOf(refused).detail ?? '',
        feed === 'property' ? /lacks property:read/ : /lacks contact:webhooks/,
      )
    }
    const moved = await ask(service(), key, 'PATCH', `/${id}`, { url: 'https://9.9.9.9/' })
    assert.deepEqual(refusal(moved), [403, 'missing_scope'])
    assert.equal(webhookIn(await ask(service(), key, 'GET', `/${id}`)).url, url)
    for (const other of [service().tenant.readKey, service().tenant.publishKey])
      assert.deepEqual(refusal(await ask(service(), other, 'GET')), [403, 'missing_scope'])
  })

  it('of a key of several tenants name theirs (PROTOCOL §2.7)', async () => {
    const { tenant, otherTenant } = service()
    const scopes = ['property:read', 'property:webhooks'] as const
    const grants = [tenant, otherTenant].map(({ tenantId }) => ({ tenantId, scopes }))
    const { text: key } = await service().issue({ grants })
    const { id } = await makeWebhook(service(), await webhookKey(service()))
    assert.deepEqual(refusal(await ask(service(), key, 'GET')), [403, 'ambiguous_tenant'])
    assert.equal((await ask(service(), key, 'GET', `/${id}?tenant=${tenant.tenantId}`)).status, 200)
    const foreign = await ask(service(), key, 'GET', `/${id}?tenant=${otherTenant.tenantId}`)
    assert.deepEqual(refusal(foreign), [404, 'webhook_not_found'])
  })

  it('are listed by feed, strictly (D19)', async () => {
    const key = await webhookKey(service())
    for (const feed of ['property', 'contact'] as const) await makeWebhook(service(), key, { feed })
    for (const feed of ['property', 'contact'] as const) {
      const { items } = listIn(await ask(service(), key, 'GET', `?feed=${feed}`))
      assert.ok(items.length > 0)
      assert.ok(items.every((one) => one.feed === feed))
    }
    for (const query of ['?feed=properties', '?limit=0', '?limit=201', '?after=x', '?state=paused']) {
      assert.deepEqual(refusal(await ask(service(), key, 'GET', query)), [400, 'invalid_parameter'], query)
    }
  })
})
