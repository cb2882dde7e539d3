/** Our own reads: events behind a number, the snapshot, one subject, heads. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { before, it } from 'node:test'
import { call, getPath, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import type { Answer, Page } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'

interface Run {
  readonly items: Page['items']
  readonly next: number
  readonly head: number
  readonly epoch: string
  readonly revision: number
}

interface End {
  readonly end: true
  readonly head: number
  readonly epoch: string
  readonly revision: number
  readonly events: number
}

const runOf = (answer: Answer) => JSON.parse(answer.text) as Run
const numbersOf = (items: Page['items']) => items.map(({ sequenceNumber }) => sequenceNumber)

/** A snapshot's events and its end line. */
function snapshotOf(text: string): { readonly items: Page['items']; readonly end: End } {
  const lines = text.trimEnd().split('\n')
  const end = JSON.parse(lines.pop() ?? '') as End
  assert.equal(end.end, true, 'the end line is missing')
  const items = lines.map((line) => JSON.parse(line) as Page['items'][number])
  assert.equal(items.length, end.events)
  return { items, end }
}

function refOf(event: Page['items'][number]): string {
  return (JSON.parse(event.payload) as { agent_ref: string }).agent_ref
}

/** Of each property the last of these events. */
function foldOf(items: Page['items']): ReadonlyMap<string, Page['items'][number]> {
  return new Map(items.map((event) => [refOf(event), event]))
}

onEngines('our own reads', { byNode: true }, (service) => {
  const refs = Array.from({ length: 12 }, () => randomUUID())
  const letting = { price_information: { price: 900, rent_frequency: 12 } }
  let all: Page['items'] = []

  const read = (path: string, key = service().tenant.readKey) => call(service(), path, { key })
  const everything = async () => pageOf(await read(`${listPath}?pageSize=1000`)).items

  before(async () => {
    for (let round = 0; round < 3; round += 1) {
      const events = refs.map((agent_ref, index) => ({
        payload: property({
          agent_ref,
          published: !(round === 2 && index % 4 === 0),
          ...(index % 3 === round ? letting : {}),
          service_reference: `${index}/${round}`,
        }),
      }))
      await publish(service(), events)
    }
    await publish(service(), { payload: contact() }, { feed: 'contact' })
    all = await everything()
  })

  it('give the events after a number, in runs of any length, until the head (PROTOCOL §11)', async () => {
    for (const type of ['property', 'SalesPropertyEvents', 'lettingsproperty']) {
      const expected = pageOf(await read(`${listPath}?pageSize=1000&apiEventType=${type}`)).items
      for (const limit of [1, 5, 1000]) {
        const found: Page['items'][number][] = []
        for (let after = 0; ;) {
          const run = runOf(
            await read(`/v1/property-events?after=${after}&limit=${limit}&apiEventType=${type}`),
          )
          assert.ok(run.items.length <= limit)
          assert.ok(run.items.every(({ sequenceNumber }) => sequenceNumber <= run.next))
          found.push(...run.items)
          assert.ok(run.next > after || run.next === run.head)
          if (run.next === run.head) break
          after = run.next
        }
        assert.deepEqual(found, expected)
      }
    }
    const caughtUp = await read(`/v1/property-events?after=${all.at(-1)?.sequenceNumber}`)
    assert.deepEqual(runOf(caughtUp).items, [])
    assert.equal(runOf(caughtUp).next, runOf(caughtUp).head)
    assert.equal(caughtUp.headers['x-feed-head'], String(runOf(caughtUp).head))
    assert.equal(caughtUp.headers['x-feed-epoch'], runOf(caughtUp).epoch)
  })

  it('give events byte for byte as the list does (P9)', async () => {
    const answer = await read('/v1/property-events?after=0')
    const listed = await read(`${listPath}?pageSize=1000`)
    const itemsText = (text: string) => text.slice(text.indexOf('['), text.lastIndexOf(']') + 1)
    assert.equal(itemsText(answer.text), itemsText(listed.text))
  })

  it('refuse a number beyond the head and another epoch, each with a code of its own (D13, PROTOCOL §11)', async () => {
    const { head, epoch } = runOf(await read('/v1/property-events'))
    for (const path of [
      '/v1/property-events',
      '/v1/property-events/snapshot',
      `/v1/properties/${refs[0]}/history`,
    ]) {
      const beyond = await read(`${path}?after=${head + 1}`)
      assert.equal(beyond.status, 409)
      assert.equal(problemOf(beyond).code, 'cursor_beyond_head')
      assert.ok(problemOf(beyond).detail.includes(String(head)))
      const stale = await read(`${path}?after=${head}&epoch=${epoch}X`)
      assert.equal(stale.status, 409)
      assert.equal(problemOf(stale).code, 'epoch_changed')
      assert.equal((await read(`${path}?after=${head}&epoch=${epoch}`)).status, 200)
    }
    const beyond = await read(`/v1/property-events/snapshot?head=${head + 1}`)
    assert.equal(problemOf(beyond).code, 'cursor_beyond_head')
  })

  it('refuse what they do not know: strict parameters with a suggestion (D2, D19)', async () => {
    const refused = async (path: string, parameter: string) => {
      const answer = await read(path)
      assert.equal(answer.status, 400, path)
      assert.equal(problemOf(answer).errors?.[0]?.parameter, parameter)
    }
    for (const value of ['-1', '1.0', '1e3', ' 1', '0x1', '01', '', '9007199254740992']) {
      await refused(`/v1/property-events?after=${encodeURIComponent(value)}`, 'after')
    }
    for (const value of ['0', '1001', 'all']) await refused(`/v1/property-events?limit=${value}`, 'limit')
    await refused('/v1/property-events?apiEventType=contact', 'apiEventType')
    await refused('/v1/property-events?epoch=%20', 'epoch')
    await refused('/v1/property-events?afer=1', 'afer')
    await refused('/v1/property-events?After=1', 'After')
    await refused('/v1/property-events/snapshot?limit=1', 'limit')
    await refused('/v1/property-events/snapshot?after=3&head=2', 'after')
    await refused('/v1/heads?after=1', 'after')
    await refused('/v1/properties/42', 'subjectId')
    await refused(`/v1/properties/{${refs[0]}}/history`, 'subjectId')
    const suggestion = problemOf(await read('/v1/property-events?afer=1')).errors?.[0]?.message
    assert.match(suggestion ?? '', /Did you mean after\?/)
  })

  it('give a snapshot of the latest event of every property, as of a head it states (PROTOCOL §11)', async () => {
    const answer = await read('/v1/property-events/snapshot')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], 'application/x-ndjson')
    const { items, end } = snapshotOf(answer.text)
    const expected = [...foldOf(all).values()].sort((a, b) => a.sequenceNumber - b.sequenceNumber)
    assert.deepEqual(items, expected)
    assert.equal(end.head, all.at(-1)?.sequenceNumber)
    assert.equal(answer.headers['x-feed-head'], String(end.head))
    assert.equal(answer.headers['x-feed-epoch'], end.epoch)
    assert.equal(answer.headers['x-feed-revision'], String(end.revision))
    const lettings = snapshotOf(
      (await read('/v1/property-events/snapshot?apiEventType=lettingsproperty')).text,
    )
    const inLettings = new Set(
      numbersOf(pageOf(await read(`${listPath}?pageSize=1000&apiEventType=lettingsproperty`)).items),
    )
    assert.deepEqual(
      lettings.items,
      expected.filter(({ sequenceNumber }) => inLettings.has(sequenceNumber)),
    )
  })

  it('continue a snapshot after any of its lines, as of the same head (PROTOCOL §11)', async () => {
    const whole = snapshotOf((await read('/v1/property-events/snapshot')).text)
    const { head, epoch } = whole.end
    for (const [index, { sequenceNumber }] of whole.items.entries()) {
      const path = `/v1/property-events/snapshot?after=${sequenceNumber}&head=${head}&epoch=${epoch}`
      const rest = snapshotOf((await read(path)).text)
      assert.deepEqual(rest.items, whole.items.slice(index + 1))
      assert.equal(rest.end.head, head)
    }
  })

  it('lose nothing between a snapshot and what follows it, while publishing continues (P2, PROTOCOL §11)', async () => {
    const target = service()
    const publishing = new AbortController()
    const busy = (async () => {
      for (let round = 0; !publishing.signal.aborted; round += 1) {
        const agent_ref = refs[round % refs.length]
        const payload = property({
          agent_ref,
          published: round % 5 !== 0,
          service_reference: `busy ${round}`,
        })
        await publish(target, [{ payload }, { payload: property({ service_reference: `new ${round}` }) }])
      }
    })()
    for (let turn = 0; turn < 8; turn += 1) {
      const { items, end } = snapshotOf((await read('/v1/property-events/snapshot')).text)
      assert.ok(items.every(({ sequenceNumber }) => sequenceNumber <= end.head))
      const copy = new Map(foldOf(items))
      let after = end.head
      for (let runs = 0; ; runs += 1) {
        assert.ok(runs < 1_000, 'no end of the feed')
        const run = runOf(await read(`/v1/property-events?after=${after}&epoch=${end.epoch}&limit=7`))
        for (const event of run.items) copy.set(refOf(event), event)
        after = run.next
        // The feed grows all the time; what was there when the run was made is enough to compare.
        if (run.items.length < 7) break
      }
      const upTo = (await everything()).filter(({ sequenceNumber }) => sequenceNumber <= after)
      assert.deepEqual(copy, foldOf(upTo))
      // Long enough for the list above to stay within one page.
      if (upTo.length > 600) break
    }
    publishing.abort()
    await busy
  })

  it('gzip a snapshot and a run for clients that ask for it (PROTOCOL §11)', async () => {
    for (const path of ['/v1/property-events/snapshot', '/v1/property-events?limit=50']) {
      const plain = await read(path)
      const headers = { 'accept-encoding': 'gzip' }
      const zipped = await call(service(), path, { key: service().tenant.readKey, headers })
      assert.equal(zipped.headers['content-encoding'], 'gzip')
      assert.ok(zipped.body.length < plain.body.length / 2)
      assert.equal(gunzipSync(zipped.body).toString(), plain.text)
    }
  })

  it("give a property's latest event and its whole history, in either case of its reference (D16, P9)", async () => {
    const items = await everything()
    for (const ref of refs.slice(0, 4)) {
      const expected = items.filter((event) => refOf(event) === ref)
      const latest = await read(`/v1/properties/${ref.toUpperCase()}`)
      assert.equal(latest.status, 200)
      assert.equal(latest.text, (await read(`${getPath}/${expected.at(-1)?.id}`)).text)
      const again = await call(service(), `/v1/properties/${ref}`, {
        key: service().tenant.readKey,
        headers: { 'if-none-match': String(latest.headers.etag) },
      })
      assert.equal(again.status, 304)
      const history: Page['items'][number][] = []
      for (let after = 0; ;) {
        const run = runOf(await read(`/v1/properties/${ref}/history?after=${after}&limit=2`))
        history.push(...run.items)
        if (run.next >= run.head) break
        after = run.next
      }
      assert.deepEqual(history, expected)
    }
  })

  it("find no subject without events, nor another tenant's (P10, D8)", async () => {
    const stranger = service().otherTenant.readKey
    const unknown = `/v1/properties/${randomUUID()}`
    for (const path of [unknown, `${unknown}/history`, `/v1/contacts/${refs[0]}`]) {
      const answer = await read(path)
      assert.equal(answer.status, 404)
      assert.equal(problemOf(answer).code, 'subject_not_found')
    }
    for (const path of [`/v1/properties/${refs[0]}`, `/v1/properties/${refs[0]}/history`]) {
      const { instance: _own, requestId: _id, ...told } = problemOf(await read(path, stranger))
      const {
        instance: _other,
        requestId: _otherId,
        ...unknownTold
      } = problemOf(await read(unknown, stranger))
      assert.deepEqual(told, unknownTold)
    }
    assert.deepEqual(runOf(await read('/v1/property-events', stranger)).items, [])
    assert.deepEqual(snapshotOf((await read('/v1/property-events/snapshot', stranger)).text).items, [])
  })

  it('give the heads of the feeds the key reads, and of no others (P10, D11)', async () => {
    const heads = async (key: string) =>
      (JSON.parse((await read('/v1/heads', key)).text) as { heads: readonly Record<string, unknown>[] }).heads
    const { tenant, otherTenant } = service()
    const items = await everything()
    const [propertyHead, contactHead] = await heads(tenant.readKey)
    const { epoch, revision } = runOf(await read('/v1/property-events'))
    assert.deepEqual(propertyHead, {
      tenantId: tenant.tenantId,
      feed: 'property',
      sequenceNumber: items.at(-1)?.sequenceNumber,
      createdDate: items.at(-1)?.createdDate,
      epoch,
      revision,
    })
    assert.equal(contactHead?.['sequenceNumber'], 1)
    const both = await service().issue({
      grants: [
        { tenantId: tenant.tenantId, scopes: ['contact:read', 'property:erase'] },
        { tenantId: otherTenant.tenantId, scopes: ['property:read'] },
      ],
    })
    assert.deepEqual(
      (await heads(both.text)).map(({ tenantId, feed, sequenceNumber, createdDate }) => [
        tenantId,
        feed,
        sequenceNumber,
        createdDate === null,
      ]),
      [
        [tenant.tenantId, 'contact', 1, false],
        [otherTenant.tenantId, 'property', 0, true],
      ],
    )
    const refused = await read('/v1/heads', tenant.eraseKey)
    assert.equal(refused.status, 403)
    assert.equal(problemOf(refused).code, 'missing_scope')
  })

  it('ask for the read scope of their feed, and for one tenant (P10, D7)', async () => {
    const { tenant, otherTenant } = service()
    const paths = ['/v1/property-events', '/v1/property-events/snapshot', `/v1/properties/${refs[0]}`]
    const contactsOnly = await service().issue({
      grants: [{ tenantId: tenant.tenantId, scopes: ['contact:read', 'property:erase'] }],
    })
    const ofTwo = await service().issue({
      grants: [tenant, otherTenant].map(({ tenantId }) => ({ tenantId, scopes: ['property:read'] as const })),
    })
    for (const path of [...paths, `/v1/properties/${refs[0]}/history`]) {
      assert.equal(problemOf(await read(path, contactsOnly.text)).code, 'missing_scope')
      const { code, detail } = problemOf(await read(path, ofTwo.text))
      assert.equal(code, 'ambiguous_tenant')
      assert.doesNotMatch(detail, /publish/)
      assert.equal((await call(service(), path)).status, 401)
    }
    assert.equal((await read('/v1/contact-events', contactsOnly.text)).status, 200)
    assert.equal(
      snapshotOf((await read('/v1/contact-events/snapshot', contactsOnly.text)).text).items.length,
      1,
    )
  })

  it('answer HEAD without a body (D9)', async () => {
    for (const path of [
      '/v1/property-events',
      '/v1/property-events/snapshot',
      '/v1/heads',
      `/v1/properties/${refs[1]}`,
    ]) {
      const answer = await call(service(), path, { method: 'HEAD', key: service().tenant.readKey })
      assert.equal(answer.status, 200, path)
      assert.equal(answer.text, '')
    }
  })

  it('report that the feed has entered a new epoch, and continue in it (D13)', async () => {
    const before = runOf(await read('/v1/property-events'))
    await service().storage.startEpoch(before.head + 1_000, 'cli:test')
    const stale = await read(`/v1/property-events?after=${before.head}&epoch=${before.epoch}`)
    assert.equal(problemOf(stale).code, 'epoch_changed')
    const { end } = snapshotOf((await read('/v1/property-events/snapshot')).text)
    assert.notEqual(end.epoch, before.epoch)
    await publish(service(), { payload: property() })
    const run = runOf(await read(`/v1/property-events?after=${end.head}&epoch=${end.epoch}`))
    assert.equal(run.items.length, 1)
    assert.ok((run.items[0]?.sequenceNumber ?? 0) > before.head + 1_000)
  })
})

onEngines('a snapshot of a long feed', { byNode: true }, (service) => {
  it('has every property, however many there are (PROTOCOL §11)', async () => {
    const { readKey } = service().tenant
    let count = 0
    for (const more of [250, 1, 250]) {
      const events = Array.from({ length: more }, () => ({ payload: property() }))
      await publish(service(), events)
      count += more
      const { items, end } = snapshotOf(
        (await call(service(), '/v1/property-events/snapshot', { key: readKey })).text,
      )
      const numbers = numbersOf(items)
      assert.deepEqual(
        numbers,
        Array.from({ length: count }, (_, index) => (numbers[0] ?? 0) + index),
      )
      assert.equal(new Set(items.map(refOf)).size, count)
      assert.deepEqual([end.events, end.head], [count, numbers.at(-1)])
    }
  })
})
