import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { call, getPath, listPath, pageOf, problemOf, publish, receiptOf } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'

onEngines('publishing', { byNode: true }, (service) => {
  const post = (
    body: string | Uint8Array,
    { query = '', type = 'application/json', headers = {}, feed = 'property' } = {},
  ) =>
    call(service(), `/v1/${feed}-events${query}`, {
      method: 'POST',
      key: service().tenant.publishKey,
      headers: { ...(type === '' ? {} : { 'content-type': type }), ...headers },
      body,
    })
  const count = async () =>
    pageOf(await call(service(), `${listPath}?pageSize=1`, { key: service().tenant.readKey })).availableCount
  const refused = async (answer: Promise<Answer>, status: number, code: string) => {
    const { text, status: seen, headers } = await answer
    assert.equal(seen, status, text.slice(0, 300))
    assert.equal(headers['content-type'], 'application/json')
    const problem = problemOf({ text })
    assert.equal(problem.code, code)
    assert.equal(problem.status, status)
    return problem
  }

  it('stores one event and answers 201 with its receipt (PROTOCOL §4)', async () => {
    const payload = property()
    const answer = await post(JSON.stringify({ payload }))
    assert.equal(answer.status, 201)
    const receipt = receiptOf(answer)
    assert.deepEqual(Object.keys(receipt), ['events', 'repeated', 'warnings'])
    const [event] = receipt.events
    assert.ok(event)
    assert.equal(event.eventTypeShortCode, 'PropertyPublished')
    assert.equal(event.transactionId, payload.agent_ref)
    assert.equal(receipt.repeated, false)
    const stored = await call(service(), `${getPath}/${event.id}`, { key: service().tenant.readKey })
    assert.equal(stored.status, 200)
    const body = JSON.parse(stored.text) as { payload: string; createdDate: string }
    assert.equal(body.payload, JSON.stringify(payload))
    assert.equal(body.createdDate, event.createdDate)
  })

  it('keeps the order of an array and of lines, and reads its own write at once (P1, P8)', async () => {
    const payloads = Array.from({ length: 6 }, () => property())
    const first = receiptOf(await post(JSON.stringify(payloads.slice(0, 3).map((payload) => ({ payload })))))
    const lines = `${payloads
      .slice(3)
      .map((payload) => JSON.stringify({ payload }))
      .join('\n')}\n\n`
    const second = await post(lines, { type: 'application/x-ndjson' })
    assert.equal(second.status, 201)
    const events = [...first.events, ...receiptOf(second).events]
    assert.deepEqual(
      events.map(({ transactionId }) => transactionId),
      payloads.map(({ agent_ref }) => agent_ref),
    )
    const numbers = events.map(({ sequenceNumber }) => sequenceNumber)
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => (numbers[0] ?? 0) + index),
    )
    assert.equal(await count(), numbers.at(-1))
  })

  it('keeps a payload byte for byte: a string unchanged, an object without white space (D22)', async () => {
    const { agent_ref } = property()
    const text = `{ "agent_ref" : "${agent_ref}", "published":true,\t"price_information":{"price":250000.00,"x":1.10,"big":0.30000000000000004} , "note":"caf\\u00e9  \u00e9" }`
    const compact = `{"agent_ref":"${agent_ref}","published":true,"price_information":{"price":250000.00,"x":1.10,"big":0.30000000000000004},"note":"caf\\u00e9  \u00e9"}`
    const ids = [
      receiptOf(await post(JSON.stringify({ payload: text }))).events[0]?.id,
      receiptOf(await post(`{"payload": ${text} }`)).events[0]?.id,
    ]
    const payloads = await Promise.all(
      ids.map(async (id) => {
        const answer = await call(service(), `${getPath}/${id}`, { key: service().tenant.readKey })
        return (JSON.parse(answer.text) as { payload: string }).payload
      }),
    )
    assert.deepEqual(payloads, [text, compact])
  })

  it('stores an event once however often it is sent, and refuses other content under its id (D14, P6)', async () => {
    const id = randomUUID()
    const body = JSON.stringify({ id, payload: property() })
    const first = receiptOf(await post(body))
    const before = await count()
    const again = await post(body.replace(id, id.toUpperCase()))
    assert.equal(again.status, 200)
    assert.equal(receiptOf(again).repeated, true)
    assert.deepEqual(receiptOf(again).events[0], { ...first.events[0], repeated: true })
    const problem = await refused(
      post(JSON.stringify([{ payload: property() }, { id, payload: property() }])),
      409,
      'id_conflict',
    )
    assert.equal(problem.errors?.[0]?.pointer, '/1/id')
    const alone = await refused(post(JSON.stringify({ id, payload: property() })), 409, 'id_conflict')
    assert.equal(alone.errors?.[0]?.pointer, '/id')
    assert.equal(await count(), before)
  })

  it('treats the removal of another property as other content, even if everything else is the same (D14, D26)', async () => {
    const [one, other] = [property(), property()]
    await publish(service(), [{ payload: one }, { payload: other }])
    const id = randomUUID()
    const removal = (agentRef: string) => JSON.stringify({ id, remove: { agentRef, reason: 9 } })
    assert.equal((await post(removal(one.agent_ref))).status, 201)
    assert.equal(receiptOf(await post(removal(one.agent_ref.toUpperCase()))).repeated, true)
    await refused(post(removal(other.agent_ref)), 409, 'id_conflict')
  })

  it('groups by transactionId without deduplicating (D15)', async () => {
    const transactionId = randomUUID()
    const before = await count()
    for (let time = 0; time < 2; time += 1) {
      const receipt = await publish(service(), { transactionId, payload: property() })
      assert.equal(receipt.events[0]?.transactionId, transactionId)
    }
    assert.equal(await count(), before + 2)
  })

  it('says what would happen, and stores nothing, for a dry run (PROTOCOL §4)', async () => {
    const before = await count()
    const answer = await post(JSON.stringify({ payload: property() }), { query: '?dryRun=true' })
    assert.equal(answer.status, 200)
    assert.equal(receiptOf(answer).events[0]?.eventTypeShortCode, 'PropertyPublished')
    assert.equal('sequenceNumber' in (receiptOf(answer).events[0] ?? {}), false)
    assert.equal(await count(), before)
  })

  it('stores nothing for an unchanged payload when asked to skip it (PROTOCOL §4)', async () => {
    const body = JSON.stringify({ payload: property() })
    await post(body)
    const before = await count()
    const answer = await post(body, { query: '?unchanged=skip' })
    assert.equal(answer.status, 200)
    assert.equal(receiptOf(answer).events[0]?.unchanged, true)
    assert.equal(await count(), before)
    assert.equal((await post(body, { query: '?unchanged=store' })).status, 201)
  })

  it('removes a property, and refuses to remove one it never saw (D26)', async () => {
    const payload = property()
    await publish(service(), { payload })
    const receipt = await publish(service(), { remove: { agentRef: payload.agent_ref, reason: 9 } })
    assert.equal(receipt.events[0]?.eventTypeShortCode, 'PropertyUnpublished')
    const problem = await refused(
      post(JSON.stringify({ remove: { agentRef: randomUUID() } })),
      409,
      'unknown_subject',
    )
    assert.equal(problem.errors?.[0]?.pointer, '/remove/agentRef')
  })

  it('erases a contact by its event type, and names that type when a removal is sent (PROTOCOL §5.2)', async () => {
    const payload = contact()
    const types = async (event: object) => {
      const { events } = await publish(service(), event, { feed: 'contact' })
      return events.map(({ eventTypeShortCode }) => eventTypeShortCode)
    }
    assert.deepEqual(await types({ payload }), ['ContactCreated'])
    const removal = JSON.stringify({ remove: { agentRef: payload.contact_ref } })
    const problem = await refused(post(removal, { feed: 'contact' }), 400, 'invalid_body')
    assert.equal(problem.errors?.[0]?.pointer, '/remove')
    assert.match(problem.errors?.[0]?.message ?? '', /"eventType": "ContactErased"/)
    const gone = { payload: { contact_ref: payload.contact_ref }, eventType: 'ContactErased' }
    assert.deepEqual(await types(gone), ['ContactErased'])
    assert.deepEqual(await types({ payload }), ['ContactCreated'])
  })

  it('unpublishes in the old category when a property changes it, in the same commit (D23)', async () => {
    const payload = property()
    await publish(service(), { payload, category: 'sales' })
    const receipt = await publish(service(), { payload, category: 'lettings' })
    assert.deepEqual(
      receipt.events.map(({ derived, eventTypeShortCode }) => [derived ?? false, eventTypeShortCode]),
      [
        [true, 'PropertyUnpublished'],
        [false, 'PropertyPublished'],
      ],
    )
  })

  it('is strict about its own parameters, and suggests what was meant (D19)', async () => {
    const body = JSON.stringify({ payload: property() })
    const misspelt = await refused(post(body, { query: '?dryrun=true' }), 400, 'invalid_parameter')
    assert.match(misspelt.errors?.[0]?.message ?? '', /Did you mean dryRun\?/)
    for (const query of [
      '?unchaned=skip',
      '?dryRun=1',
      '?dryRun=',
      '?dryRun',
      '?unchanged=SKIP',
      '?dryRun=true&dryRun=true',
      '?page=1',
      '?dry%52un=%FF',
    ]) {
      await refused(post(body, { query }), 400, 'invalid_parameter')
    }
    assert.equal(
      (
        await call(service(), '/V1/property-events', {
          method: 'POST',
          key: service().tenant.publishKey,
          body,
        })
      ).status,
      404,
    )
  })

  it('stores no part of a request if one of its events is refused, and says which (P6, P11)', async () => {
    const before = await count()
    const good = { payload: property() }
    const body = JSON.stringify([good, { payload: { ...property(), agent_ref: 'x' } }, { payload: 5 }, good])
    const problem = await refused(post(body), 400, 'invalid_body')
    assert.deepEqual(
      problem.errors?.map(({ pointer }) => pointer),
      ['/1/payload/agent_ref', '/2/payload'],
    )
    assert.equal(await count(), before)
  })

  it('refuses what JSON.parse would change or swallow, in the body and in a payload sent as text (P11)', async () => {
    const { agent_ref } = property()
    const lone = String.raw`\ud800`
    const nul = String.raw`\u0000`
    const before = await count()
    for (const member of [
      `"published":true,"published":false`,
      `"x":9007199254740993`,
      `"x":1e400`,
      `"x":1e-400`,
      `"x":-1e400`,
      `"x":"${lone}"`,
      `"x":"${nul}"`,
      `"__proto__":{"a":1}`,
      `"constructor":{"prototype":{"a":1}}`,
      `"x":NaN`,
      `"x":01`,
      `"x":'a'`,
      `"x":1,`,
      `"x":${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      `"x":${'['.repeat(40)}${']'.repeat(40)}`,
    ]) {
      const payload = `{"agent_ref":"${agent_ref}","published":true,${member}}`
      for (const body of [
        `{"payload":${payload}}`,
        JSON.stringify({ payload }),
        `[{"payload":${payload}}]`,
      ]) {
        const problem = await refused(post(body), 400, 'invalid_body')
        assert.ok((problem.errors?.length ?? 0) > 0)
      }
      await refused(post(`{"payload":${payload}}`, { type: 'application/x-ndjson' }), 400, 'invalid_body')
    }
    assert.equal(await count(), before)
  })

  it('refuses nesting without end quickly and with a small answer (P11)', async () => {
    for (const text of ['['.repeat(100_000), `{"payload":${'{"a":'.repeat(100_000)}`, '"'.repeat(100_001)]) {
      const answer = await post(text)
      assert.equal(answer.status, 400)
      assert.ok(answer.text.length < 5_000)
    }
  })

  it('refuses bytes that are not UTF-8, and a byte order mark (P11)', async () => {
    const body = Buffer.from(JSON.stringify({ payload: property({ note: 'NOTE' }) }))
    const place = body.indexOf('NOTE')
    for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
      const spoiled = Buffer.concat([body.subarray(0, place), Buffer.from(bytes), body.subarray(place)])
      const problem = await refused(post(spoiled), 400, 'invalid_body')
      assert.equal(problem.errors?.[0]?.code, 'invalid_utf8')
    }
    const marked = await refused(
      post(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body])),
      400,
      'invalid_body',
    )
    assert.equal(marked.errors?.[0]?.code, 'byte_order_mark')
  })

  it('refuses bodies that are not an event (P11)', async () => {
    for (const body of [
      '',
      ' ',
      'null',
      '[]',
      'true',
      '1',
      '"x"',
      '[null]',
      '[[]]',
      '{}',
      '{"payload":null}',
      '{"payload":[]}',
      '{"payload":"null"}',
      '{"payload":""}',
      '{"payload":"[]"}',
      '{',
      '{"payload":{}}',
      'payload=1',
    ]) {
      await refused(post(body), 400, 'invalid_body')
    }
    for (const body of ['', '\n', '\n\n', '[]\n', 'null', '{}\n{'])
      await refused(post(body, { type: 'application/x-ndjson' }), 400, 'invalid_body')
    await refused(
      call(service(), '/v1/property-events', {
        method: 'POST',
        key: service().tenant.publishKey,
        headers: { 'content-type': 'application/json' },
      }),
      400,
      'invalid_body',
    )
  })

  it('lets nobody choose what the service gives (P10, P11)', async () => {
    const payload = property()
    for (const member of [
      'tenantId',
      'sequenceNumber',
      'createdDate',
      'eventTypeShortCode',
      'feed',
      '__proto__',
    ]) {
      await refused(post(`{"payload":${JSON.stringify(payload)},"${member}":"1"}`), 400, 'invalid_body')
    }
  })

  it('refuses a type, charset or coding it does not read (D9)', async () => {
    const body = JSON.stringify({ payload: property() })
    for (const type of [
      'application/xml',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      'application/jsonx',
      'json',
      'application/problem+json',
      '*/*',
    ]) {
      const problem = await refused(post(body, { type }), 415, 'unsupported_media_type')
      assert.match(problem.detail, /application\/json/)
    }
    for (const charset of ['utf-16', 'iso-8859-1', '"utf-7"', '']) {
      await refused(post(body, { type: `application/json; charset=${charset}` }), 415, 'unsupported_charset')
    }
    for (const type of [
      'application/json;charset=UTF-8',
      'Application/JSON; charset="utf-8"',
      'application/json; foo=bar',
    ]) {
      assert.equal((await post(body, { type })).status, 201)
    }
    for (const coding of ['br', 'deflate', 'gzip, gzip', 'x-unknown']) {
      const answer = await post(body, { headers: { 'content-encoding': coding } })
      assert.equal(answer.status, 415)
      assert.equal(answer.headers['accept-encoding'], 'gzip, identity')
    }
    // 17 MB of blanks in 17 kB: what counts is the size after the coding is undone.
    const bomb = gzipSync(Buffer.alloc(17_000_000, 32))
    await refused(post(bomb, { headers: { 'content-encoding': 'gzip' } }), 413, 'body_too_large')
    assert.equal(
      (await post(JSON.stringify({ payload: property() }), { headers: { 'content-encoding': 'identity' } }))
        .status,
      201,
    )
  })

  it('refuses more than 1,000 events and a payload over 256 KiB (PROTOCOL §4)', async () => {
    const before = await count()
    const many = Array.from({ length: 1_001 }, () => ({
      payload: { agent_ref: randomUUID(), published: true },
    }))
    assert.equal(
      (await refused(post(JSON.stringify(many)), 400, 'invalid_body')).errors?.[0]?.code,
      'too_many_events',
    )
    const large = property({ note: 'x'.repeat(262_144) })
    assert.equal(
      (await refused(post(JSON.stringify({ payload: large })), 400, 'invalid_body')).errors?.[0]?.code,
      'payload_too_large',
    )
    assert.equal(await count(), before)
    assert.equal((await post(JSON.stringify(many.slice(1)))).status, 201)
    assert.equal(await count(), before + 1_000)
  })

  it('refuses an id that occurs twice in one request, and ids that are not UUIDs (D14)', async () => {
    const id = randomUUID()
    const twice = [
      { id, payload: property() },
      { id: id.toUpperCase(), payload: property() },
    ]
    assert.equal(
      (await refused(post(JSON.stringify(twice)), 400, 'invalid_body')).errors?.[0]?.code,
      'duplicate_id',
    )
    for (const bad of ['x', 1, `{${id}}`, `urn:uuid:${id}`]) {
      await refused(post(JSON.stringify({ id: bad, payload: property() })), 400, 'invalid_body')
      await refused(post(JSON.stringify({ transactionId: bad, payload: property() })), 400, 'invalid_body')
    }
  })

  it('refuses links that are not plain web addresses, and wrong types, but no unknown fields (PROTOCOL §4)', async () => {
    for (const media_url of [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'https://user:pw@example.org/a.jpg',
      `https://example.org/${'x'.repeat(10_000)}`,
      '/relative',
      '',
    ]) {
      await refused(
        post(JSON.stringify({ payload: property({ media: [{ media_type: 1, media_url }] }) })),
        400,
        'invalid_body',
      )
    }
    for (const fields of [
      { published: 'yes' },
      { status: '1' },
      { details: [] },
      { address: 'x' },
      { price_information: { price: '1e5' } },
      { details: { features: Array.from({ length: 100_000 }, () => 'x') } },
    ]) {
      await refused(post(JSON.stringify({ payload: property(fields) })), 400, 'invalid_body')
    }
    const odd = property({
      details: { obligations: [], accessibility: [37, 37], broadband: [null] },
      unheard_of: { a: ['<script>'] },
      status: 77,
    })
    const answer = await post(JSON.stringify({ payload: odd }))
    assert.equal(answer.status, 201)
    assert.ok(receiptOf(answer).warnings.length > 0)
  })

  it('warns of what belongs to the other category: than the one sent, else than the one implied (D23)', async () => {
    const warned = async (category: string | undefined, fields: Readonly<Record<string, unknown>>) => {
      const answer = await post(JSON.stringify({ payload: property(fields), category }))
      return receiptOf(answer)
        .warnings.filter(isOfCategory)
        .map(({ pointer, code }) => `${pointer} ${code}`)
    }
    const isOfCategory = ({ code }: { readonly code: string }) => code.endsWith('_only')
    const rent = { price_information: { price: 900, rent_frequency: 12 } }
    assert.deepEqual(await warned('sales', { ...rent, status: 6 }), [
      '/status lettings_only',
      '/price_information/rent_frequency lettings_only',
    ])
    assert.deepEqual(await warned('lettings', { status: 2 }), ['/status sales_only'])
    assert.deepEqual(await warned('lettings', { student_property: true }), [])
    assert.deepEqual(await warned(undefined, { ...rent, status: 2 }), ['/status sales_only'])
    // Neither sent nor implied: it is what it was, which is known only when the event is stored.
    assert.deepEqual(await warned(undefined, { student_property: true }), [])
  })

  it('keeps a sale with zeros in the fields of lettings for readers of sales (D23)', async () => {
    const zeros = {
      contract_months: 0,
      minimum_term: 0,
      let_type: 0,
      price_information: { price: 450_000, deposit: 0, rent_frequency: 0, tenure_type: 1 },
      details: { summary: 'Tŷ teras – £450,000 🏡', furnished_type: 0, deposit_replacement_scheme: false },
    }
    const payload = property(zeros)
    const { events, warnings } = receiptOf(await post(JSON.stringify({ payload })))
    const after = (events[0]?.sequenceNumber ?? 0) - 1
    assert.deepEqual(
      warnings
        .map(({ code }) => code)
        .filter((code) => code !== 'unknown_code' && code !== 'material_information'),
      [],
    )
    const inCategory = async (apiEventType: string) => {
      const path = `/v1/property-events?after=${after}&apiEventType=${apiEventType}`
      const { text } = await call(service(), path, { key: service().tenant.readKey })
      return text.includes(payload.agent_ref)
    }
    assert.deepEqual([await inCategory('salesproperty'), await inCategory('lettingsproperty')], [true, false])
  })

  it('warns of a category that was derived and that the price contradicts (D23)', async () => {
    const agent_ref = property().agent_ref
    const warned = async (fields: Readonly<Record<string, unknown>>, item: object = {}) => {
      const answer = await post(JSON.stringify({ payload: property(fields), ...item }))
      const derived = receiptOf(answer).warnings.filter(({ code }) => code === 'category_derived')
      return derived.map(({ index, pointer, message }) => [index, pointer, /in (\w+)/.exec(message)?.[1]])
    }
    const [lettings, sales] = ['lettings', 'sales'].map((category) => [
      [0, '/price_information/price', category],
    ])
    const deposit = { price_information: { price: 450_000, deposit: 1_000 } }
    assert.deepEqual(await warned({ ...deposit, agent_ref }), lettings)
    // Its fields say nothing any more: it stays what it was, which is still against the price.
    assert.deepEqual(await warned({ agent_ref, price_information: { price: 450_000 } }), lettings)
    assert.deepEqual(
      await warned({ agent_ref, price_information: { price: 450_000 } }, { category: 'sales' }),
      [],
    )
    assert.deepEqual(await warned({ agent_ref, price_information: { price: 449_000 } }), [])
    assert.deepEqual(await warned(deposit, { category: 'lettings' }), [])
    assert.deepEqual(await warned({ price_information: { price: 950, rent_frequency: 0 } }), sales)
    assert.deepEqual(await warned({ price_information: { price: 950, rent_frequency: 12 } }), [])
  })

  it('reports the first 20 faults of a payload, and the first 100 faults or warnings of a request (PROTOCOL §8)', async () => {
    const faulty = { payload: property({ media: Array.from({ length: 30 }, () => ({ caption: 7 })) }) }
    const errorsOf = async (events: unknown) =>
      (await refused(post(JSON.stringify(events)), 400, 'invalid_body')).errors?.length
    assert.equal(await errorsOf(faulty), 20)
    assert.equal(await errorsOf(Array.from({ length: 6 }, () => faulty)), 100)

    const warningsOf = async (events: unknown) =>
      receiptOf(await post(JSON.stringify(events))).warnings.length
    const media = Array.from({ length: 60 }, () => ({ media_type: 99 }))
    assert.equal(await warningsOf({ payload: property({ media }) }), 50)
    const doubtful = Array.from({ length: 150 }, () => ({ payload: property({ status: 99 }) }))
    assert.equal(await warningsOf(doubtful), 100)
  })

  it('accepts a removal reason in words without a warning (D26)', async () => {
    const payload = property({ published: false, removal_reason: 'withdrawn by the vendor' })
    assert.deepEqual(receiptOf(await post(JSON.stringify({ payload }))).warnings, [])
  })

  it('publishes contacts to their own feed (D18)', async () => {
    const answer = await post(JSON.stringify({ payload: contact() }), { feed: 'contact' })
    assert.equal(answer.status, 201)
    assert.equal(receiptOf(answer).events[0]?.eventTypeShortCode, 'ContactCreated')
    await refused(post(JSON.stringify({ payload: property() }), { feed: 'contact' }), 400, 'invalid_body')
    await refused(post(JSON.stringify({ payload: contact() })), 400, 'invalid_body')
  })

  it('keeps what a ContactErased was preceded by, as it was published (PROTOCOL §5.7)', async () => {
    const payload = contact()
    const [first] = receiptOf(await post(JSON.stringify({ payload }), { feed: 'contact' })).events
    const gone = { payload: { contact_ref: payload['contact_ref'] }, eventType: 'ContactErased' }
    const [last] = receiptOf(await post(JSON.stringify(gone), { feed: 'contact' })).events
    assert.equal(last?.eventTypeShortCode, 'ContactErased')
    const key = service().tenant.readKey
    const history = `/v1/contacts/${String(payload['contact_ref'])}/history`
    const { text, headers } = await call(service(), history, { key })
    const { items } = JSON.parse(text) as { items: readonly { id: string; payload: string }[] }
    assert.deepEqual(
      items.map(({ id }) => id),
      [first?.id, last.id],
    )
    assert.equal(items[0]?.payload, JSON.stringify(payload))
    assert.equal(headers['x-feed-revision'], '0')
  })

  it('never repeats a payload in the log or in an error (D6, D18)', async () => {
    const secret = 'Zebedee-Ruthven-Smythe'
    const before = service().logLines.length
    await post(JSON.stringify({ payload: contact({ surname: secret, kind: 7 }) }), { feed: 'contact' })
    const bad = await post(`{"payload":{"surname":"${secret}"`, { feed: 'contact' })
    assert.equal(bad.status, 400)
    assert.ok(!bad.text.includes(secret))
    await post(JSON.stringify({ payload: contact({ surname: secret }) }), { feed: 'contact' })
    assert.ok(!service().logLines.slice(before).join('').includes(secret))
  })
})
