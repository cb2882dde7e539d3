/** Tests of a receiver, secrets, and what is sent again, over HTTP (PROTOCOL §16.1). What a sender writes is written by these tests. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import type {
  ChangedWebhook,
  MadeWebhook,
  WebhookDeliveries,
  Webhook,
  WebhookTest,
  WebhookWaiting,
} from '@property-events/protocol/wire'
import { adminScopes } from '@property-events/protocol'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import type { ProgressWrite } from '../../src/webhooks/endpoint.ts'
import { call, problemOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import type { TestService } from '../support/test-service.ts'
import { ask, makeWebhook, publicUrl, startReceiver, toThisMachine, webhookKey } from '../support/webhooks.ts'

function bodyOf(answer: Answer, status = 200): string {
  assert.equal(answer.status, status, answer.text)
  return answer.text
}

function refusal(answer: Answer): readonly [number, string | undefined] {
  return [answer.status, problemOf(answer).code]
}

const sender = 'these tests'

/** What whoever sends writes of one endpoint. */
async function write(
  { storage }: TestService,
  endpointId: string,
  progress: Partial<ProgressWrite>,
): Promise<void> {
  const leases = await storage.webhooks.claim(sender, 100, 40_000)
  const lease = leases.find(({ endpoint }) => endpoint.endpointId === endpointId) ?? assert.fail('no lease')
  const given = {
    endpointId,
    leaseNo: lease.leaseNo,
    writes: lease.writes,
    epoch: lease.endpoint.progress.epoch,
    change: undefined,
    acknowledged: undefined,
    deliveries: [],
    versions: [],
    disable: undefined,
    notice: undefined,
    ...progress,
  }
  assert.deepEqual(await storage.webhooks.save([given]), [])
  await storage.webhooks.release(
    sender,
    leases.map(({ endpoint }) => endpoint.endpointId),
  )
}

/** So many events of one property, and of how many it is the feed's last number. */
async function published(service: TestService, key: string, count: number) {
  const payload = property()
  const numbers: number[] = []
  for (let price = 1; price <= count; price += 1) {
    const changed = { ...payload, agent_notes: `Tŷ newydd £${price}` }
    const { events } = await publish(service, { payload: changed }, { key })
    numbers.push(...events.map(({ sequenceNumber }) => sequenceNumber))
  }
  return { subject: payload.agent_ref, numbers }
}

const moved = (settled: number): Partial<ProgressWrite> => ({
  change: { settled, failingSinceMs: undefined, rows: undefined, settledTries: 0 },
})

onEngines('a webhook', toThisMachine, (service) => {
  it('is tested with a signed message, and what came back is answered (PROTOCOL §16.1)', async () => {
    const key = await webhookKey(service())
    let answer = { status: 200, text: 'diolch £' }
    await using receiver = await startReceiver(() => answer)
    const { id, secret } = await makeWebhook(service(), key, { url: receiver.url })
    await ask(service(), key, 'PATCH', `/${id}`, { state: 'paused' })
    const cases = [
      [200, 'acknowledged'],
      [404, 'refused'],
      [410, 'refused'],
      [500, 'refused'],
    ] as const
    for (const [status, outcome] of cases) {
      answer = { status, text: 'diolch £'.repeat(200) }
      const test = JSON.parse(bodyOf(await ask(service(), key, 'POST', `/${id}/test`))) as WebhookTest
      assert.deepEqual([test.status, test.outcome], [status, outcome])
      assert.ok(test.answer?.startsWith('diolch £'))
      assert.ok((test.answer?.length ?? 0) <= 1_024)
      assert.match(test.detail, new RegExp(`answered with ${status}`))
    }
    assert.equal(receiver.received.length, cases.length)
    for (const { headers, body } of receiver.received) {
      const standard = new StandardWebhook(secret)
      const message = standard.verify(body, headers as Record<string, string>) as { readonly type: string }
      assert.equal(message.type, 'webhook.test')
    }
    const { items } = JSON.parse(
      bodyOf(await ask(service(), key, 'GET', `/${id}/deliveries`)),
    ) as WebhookDeliveries
    assert.deepEqual(items, [], 'a test is no delivery')
  })

  it('is tested within its time, wherever nothing answers (P11)', async () => {
    const key = await webhookKey(service())
    const receiver = await startReceiver(() => ({ status: 200, text: '' }))
    const { id } = await makeWebhook(service(), key, { url: receiver.url, timeoutSeconds: 1 })
    await ask(service(), key, 'PATCH', `/${id}`, { state: 'paused' })
    await receiver[Symbol.asyncDispose]()
    const test = JSON.parse(bodyOf(await ask(service(), key, 'POST', `/${id}/test`))) as WebhookTest
    assert.deepEqual([test.status, test.answer, test.outcome], [null, null, 'unreachable'])
    assert.ok(test.detail.length > 10)
  })

  it('gets a new secret, and the former one signs as well for a while (PROTOCOL §16.1)', async () => {
    const key = await webhookKey(service())
    await using receiver = await startReceiver(() => ({ status: 204, text: '' }))
    const first = await makeWebhook(service(), key, { url: receiver.url })
    await ask(service(), key, 'PATCH', `/${first.id}`, { state: 'paused' })
    const second = JSON.parse(
      bodyOf(await ask(service(), key, 'POST', `/${first.id}/secrets`, {}), 201),
    ) as MadeWebhook
    assert.notEqual(second.secret, first.secret)
    assert.deepEqual(
      second.secrets.map(({ endsAt }) => endsAt === null),
      [true, false],
    )
    const ends = Date.parse(second.secrets[1]?.endsAt ?? '')
    assert.ok(Math.abs(ends - Date.now() - 86_400_000) < 600_000)
    const signs = async (secret: string): Promise<boolean> => {
      await ask(service(), key, 'POST', `/${first.id}/test`)
      const { headers, body } = receiver.received.at(-1) ?? assert.fail('nothing came')
      try {
        new StandardWebhook(secret).verify(body, headers as Record<string, string>)
        return true
      } catch {
        return false
      }
    }
    assert.deepEqual([await signs(first.secret), await signs(second.secret)], [true, true])
    const now = { overlapSeconds: 0 }
    const third = JSON.parse(
      bodyOf(await ask(service(), key, 'POST', `/${first.id}/secrets`, now), 201),
    ) as MadeWebhook
    assert.equal(third.secrets.length, 1)
    assert.deepEqual([await signs(second.secret), await signs(third.secret)], [false, true])
    for (const body of [
      { overlapSeconds: -1 },
      { overlapSeconds: 604_801 },
      { overlapSeconds: '1' },
      { days: 1 },
    ]) {
      const refused = await ask(service(), key, 'POST', `/${first.id}/secrets`, body)
      assert.deepEqual(refusal(refused), [400, 'invalid_body'])
      assert.equal(
        receiver.received.some(({ headers }) => String(headers['webhook-id']).includes('undefined')),
        false,
      )
    }
  })

  it('that came with a copy is enabled with a new secret, shown once (PROTOCOL §16.1)', async () => {
    const key = await webhookKey(service())
    await using receiver = await startReceiver(() => ({ status: 204, text: '' }))
    const { id, secret } = await makeWebhook(service(), key, { url: receiver.url })
    const { storage } = service()
    const record = (await storage.webhooks.find(id)) ?? assert.fail('no endpoint')
    const [stored] = record.secrets
    assert.ok(stored !== undefined)
    const otherPepper = { sealed: stored.sealed, pepperId: 'another' }
    await storage.webhooks.reseal(stored.secretId, stored.pepperId, otherPepper)
    const copied = { state: { kind: 'paused', reason: 'copied', sinceMs: Date.now() } } as const
    await storage.webhooks.change(id, copied, 'service')
    const shown = JSON.parse(bodyOf(await ask(service(), key, 'GET', `/${id}`))) as Webhook
    assert.deepEqual([shown.state, shown.reason], ['paused', 'copied'])
    const test = JSON.parse(bodyOf(await ask(service(), key, 'POST', `/${id}/test`))) as WebhookTest
    assert.match(test.detail, /no secret/)
    assert.equal(receiver.received.length, 0, 'nothing is posted by a copy')
    const enabled = JSON.parse(
      bodyOf(await ask(service(), key, 'PATCH', `/${id}`, { state: 'enabled' })),
    ) as ChangedWebhook
    assert.equal(enabled.state, 'enabled')
    assert.ok(enabled.secret !== undefined && enabled.secret !== secret)
    const again = JSON.parse(
      bodyOf(await ask(service(), key, 'PATCH', `/${id}`, { state: 'enabled' })),
    ) as ChangedWebhook
    assert.equal(again.secret, undefined)
  })
})

onEngines('the log of a webhook', {}, (service) => {
  it('whose key has ended goes on when it is enabled with the key that enables it (PROTOCOL §16.1)', async () => {
    const [first, second] = [await webhookKey(service()), await webhookKey(service())]
    const { id, keyId } = await makeWebhook(service(), first, { after: 0 })
    const { storage } = service()
    const disabled = { state: { kind: 'disabled', reason: 'key_revoked', sinceMs: Date.now() } } as const
    await storage.webhooks.change(id, disabled, 'service')
    const paused = JSON.parse(
      bodyOf(await ask(service(), second, 'PATCH', `/${id}`, { state: 'paused' })),
    ) as Webhook
    assert.deepEqual([paused.state, paused.reason], ['disabled', 'key_revoked'])
    const enabled = JSON.parse(
      bodyOf(await ask(service(), second, 'PATCH', `/${id}`, { state: 'enabled' })),
    ) as Webhook
    assert.deepEqual([enabled.state, enabled.keyId], ['enabled', second.split('_')[1]])
    assert.notEqual(enabled.keyId, keyId)
    assert.deepEqual(enabled.cursor.settled, 0)
  })

  it('goes on after another number, and lists what it left out (PROTOCOL §16.1)', async () => {
    const key = await webhookKey(service())
    const { id, cursor } = await makeWebhook(service(), key, { url: publicUrl })
    const { subject, numbers } = await published(service(), service().tenant.publishKey, 3)
    const [first = 0, second = 0, last = 0] = numbers
    const waits = { subjectId: subject, sequenceNumber: first, tries: 2, nextTryMs: Date.now() + 60_000 }
    const rows = { waiting: [waits], removed: [], givenUp: [], version: 1 }
    await write(service(), id, {
      change: { settled: last, failingSinceMs: undefined, rows, settledTries: 0 },
    })
    const waiting = JSON.parse(bodyOf(await ask(service(), key, 'GET', `/${id}/waiting`))) as WebhookWaiting
    assert.deepEqual(waiting, {
      waiting: [
        { subject, sequenceNumber: first, tries: 2, nextTryAt: new Date(waits.nextTryMs).toISOString() },
      ],
      givenUp: [],
      next: null,
    })
    const waited = await ask(service(), key, 'POST', `/${id}/resend`, { sequenceNumber: second })
    assert.deepEqual(refusal(waited), [409, 'subject_waiting'])
    const back = JSON.parse(
      bodyOf(await ask(service(), key, 'POST', `/${id}/cursor`, { after: first })),
    ) as Webhook
    assert.deepEqual([back.cursor.settled, back.waiting, back.givenUp], [first, 0, 1])
    const left = JSON.parse(bodyOf(await ask(service(), key, 'GET', `/${id}/waiting`))) as WebhookWaiting
    assert.deepEqual(
      left.givenUp.map((one) => [one.subject, one.sequenceNumber]),
      [[subject, first]],
    )
    const after = JSON.parse(
      bodyOf(await ask(service(), key, 'GET', `/${id}/waiting?after=${first}`)),
    ) as WebhookWaiting
    assert.deepEqual(after.givenUp, [])
    const sent = await ask(service(), key, 'POST', `/${id}/resend`, { givenUp: true })
    assert.deepEqual(JSON.parse(sent.text), { properties: 1 })
    const head = JSON.parse(
      bodyOf(await ask(service(), key, 'POST', `/${id}/cursor`, { after: 'head' })),
    ) as Webhook
    assert.equal(head.cursor.settled, last)
    const replayed = JSON.parse(
      bodyOf(await ask(service(), key, 'POST', `/${id}/cursor`, { after: 0, epoch: 'replay' })),
    ) as Webhook
    assert.deepEqual([replayed.cursor.settled, replayed.cursor.epoch], [0, '0'])
    const skipped = JSON.parse(
      bodyOf(await ask(service(), key, 'POST', `/${id}/cursor`, { after: 0, epoch: 'skip' })),
    ) as Webhook
    assert.equal(skipped.cursor.epoch, cursor.epoch)
    const beyond = await ask(service(), key, 'POST', `/${id}/cursor`, { after: last + 1 })
    assert.deepEqual(refusal(beyond), [409, 'cursor_beyond_head'])
    for (const body of [{}, { after: -1 }, { after: 1.5 }, { after: 1, epoch: 'forget' }, { number: 1 }])
      assert.deepEqual(refusal(await ask(service(), key, 'POST', `/${id}/cursor`, body)), [
        400,
        'invalid_body',
      ])
  })

  it('is sent one event again, or the latest where only that counts, and no event that it does not read (PROTOCOL §16.1)', async () => {
    const key = await webhookKey(service())
    const every = await makeWebhook(service(), key, { url: publicUrl })
    const latest = await makeWebhook(service(), key, { url: publicUrl, mode: 'latest' })
    const dale = await makeWebhook(
      service(),
      await webhookKey(service(), { feeds: ['property'], branches: ['Dale'] }),
      { url: publicUrl },
    )
    const { subject, numbers } = await published(service(), service().tenant.publishKey, 2)
    const [first = 0, last = 0] = numbers
    const resend = (id: string, body: object) => ask(service(), key, 'POST', `/${id}/resend`, body)
    const early = await resend(every.id, { sequenceNumber: first })
    assert.deepEqual(refusal(early), [404, 'event_not_found'])
    assert.match(problemOf(early).detail ?? '', /by itself/)
    const cases = [
      [every, first],
      [latest, last],
    ] as const
    for (const [{ id }, due] of cases) {
      await write(service(), id, moved(last))
      assert.deepEqual(JSON.parse(bodyOf(await resend(id, { sequenceNumber: first }))), { properties: 1 })
      const { waiting } = JSON.parse(
        bodyOf(await ask(service(), key, 'GET', `/${id}/waiting`)),
      ) as WebhookWaiting
      assert.deepEqual(waiting, [{ subject, sequenceNumber: due, tries: 0, nextTryAt: null }])
      assert.deepEqual(refusal(await resend(id, { sequenceNumber: last })), [409, 'subject_waiting'])
    }
    await write(service(), dale.id, moved(last))
    assert.deepEqual(refusal(await resend(dale.id, { sequenceNumber: first })), [404, 'event_not_found'])
    for (const body of [{}, { sequenceNumber: 0 }, { sequenceNumber: 1, givenUp: true }, { givenUp: false }])
      assert.deepEqual(refusal(await resend(every.id, body)), [400, 'invalid_body'])
  })

  it('shows what was tried, the newest first, by outcome and by property (PROTOCOL §16.1)', async () => {
    const key = await webhookKey(service())
    const { id } = await makeWebhook(service(), key, { url: publicUrl })
    const subjects = [randomUUID(), randomUUID()]
    const deliveries = Array.from({ length: 5 }, (_, index) => ({
      endpointId: id,
      atMs: Date.now(),
      messageId: `msg_e_${index + 1}`,
      event: index === 4 ? undefined : { sequenceNumber: index + 1, subjectId: subjects[index % 2] ?? '' },
      outcome: index === 0 ? ('unreachable' as const) : ('acknowledged' as const),
      status: index === 0 ? undefined : 200,
      tookMs: 12,
      answer: index === 0 ? undefined : 'diolch £ 🏠',
    }))
    await write(service(), id, { deliveries })
    const of = async (query = '') =>
      JSON.parse(bodyOf(await ask(service(), key, 'GET', `/${id}/deliveries${query}`))) as WebhookDeliveries
    const { items, next } = await of()
    assert.equal(next, null)
    assert.deepEqual(
      items.map(({ messageId }) => messageId),
      [5, 4, 3, 2, 1].map((number) => `msg_e_${number}`),
    )
    const { number: _, at: __, ...first } = items.at(-1) ?? assert.fail('none')
    assert.deepEqual(first, {
      messageId: 'msg_e_1',
      sequenceNumber: 1,
      subject: subjects[0],
      outcome: 'unreachable',
      status: null,
      milliseconds: 12,
      answer: null,
    })
    assert.deepEqual(
      [items[0]?.sequenceNumber, items[0]?.subject, items[0]?.answer],
      [null, null, 'diolch £ 🏠'],
    )
    const page = await of('?limit=2')
    assert.deepEqual(page.items, items.slice(0, 2))
    assert.deepEqual((await of(`?limit=3&before=${page.next}`)).items, items.slice(2))
    assert.deepEqual((await of('?outcome=unreachable')).items, items.slice(4))
    assert.deepEqual(
      (await of(`?subject=${subjects[1]?.toUpperCase()}`)).items.map(({ messageId }) => messageId),
      ['msg_e_4', 'msg_e_2'],
    )
    for (const query of ['?outcome=lost', '?subject=x', '?before=-1', '?limit=0', '?after=1']) {
      const refused = await ask(service(), key, 'GET', `/${id}/deliveries${query}`)
      assert.deepEqual(refusal(refused), [400, 'invalid_parameter'], query)
    }
  })

  it('is paused by an operator, and then enabled by operators only (PROTOCOL §12.13)', async () => {
    const { tenant, otherTenant } = service()
    const { tenantId } = tenant
    const key = await webhookKey(service())
    const { id } = await makeWebhook(service(), key, { url: publicUrl })
    const { text: operator } = await service().issue({ operator: true, adminScopes })
    const { text: manager } = await service().issue({
      grants: [{ tenantId, scopes: ['tenant:inspect', 'tenant:manage'] }],
    })
    const pause = (asker: string, paused: unknown, of = tenantId, which = id) =>
      call(service(), `/v1/admin/tenants/${of}/webhooks/${which}/pause`, {
        method: 'POST',
        key: asker,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ paused }),
      })
    const states: readonly (readonly [string, boolean, readonly [string, string | null]])[] = [
      [manager, true, ['paused', 'asked']],
      [manager, false, ['enabled', null]],
      [operator, true, ['paused', 'operator']],
      [operator, true, ['paused', 'operator']],
    ]
    for (const [asker, paused, expected] of states) {
      const { state, reason } = JSON.parse(bodyOf(await pause(asker, paused))) as Webhook
      assert.deepEqual([state, reason], expected)
    }
    const enabled = await ask(service(), key, 'PATCH', `/${id}`, { state: 'enabled' })
    for (const refused of [enabled, await pause(manager, false), await pause(manager, true)]) {
      assert.deepEqual(refusal(refused), [403, 'missing_scope'])
      assert.match(problemOf(refused).detail ?? '', /operator/)
    }
    const test = JSON.parse(bodyOf(await ask(service(), key, 'POST', `/${id}/test`))) as WebhookTest
    assert.match(test.detail, /operator.*Nothing was sent/)
    assert.equal((JSON.parse(bodyOf(await pause(operator, false))) as Webhook).state, 'enabled')
    for (const asker of [operator, manager]) {
      const list = await call(service(), `/v1/admin/tenants/${tenantId}/webhooks`, { key: asker })
      assert.ok(
        (JSON.parse(bodyOf(list)) as { readonly items: readonly Webhook[] }).items.some(
          (one) => one.id === id,
        ),
      )
    }
    assert.deepEqual(refusal(await pause(operator, true, otherTenant.tenantId)), [404, 'webhook_not_found'])
    assert.deepEqual(refusal(await pause(operator, true, tenantId, randomUUID())), [404, 'webhook_not_found'])
    assert.deepEqual(refusal(await pause(operator, true, tenantId, 'x')), [400, 'invalid_parameter'])
    assert.deepEqual(refusal(await pause(operator, 'yes')), [400, 'invalid_body'])
  })
})
