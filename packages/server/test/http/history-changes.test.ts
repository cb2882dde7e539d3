/** `GET …/history?changes=true`: what each event of a subject changed, as its reader sees it (PROTOCOL §11.4). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { adminScopes, ticksPerSecond } from '@property-events/protocol'
import type { ContactLimits } from '@property-events/protocol'
import type { History, HistoryEvent } from '@property-events/protocol/wire'
import { withChanges } from '../../src/reading/history-changes.ts'
import { branchKey } from '../support/branch-key.ts'
import { eraseAll, receiptOf } from '../support/canary.ts'
import { call, problemOf, publish } from '../support/http-client.ts'
import { committedDocument, validatorOf } from '../support/openapi-document.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'

const validate = validatorOf(committedDocument(), { $ref: '#/components/schemas/History' })

/** The answer, if it is as the document says. */
function bodyOf(text: string): History {
  const body: History = JSON.parse(text)
  assert.equal(validate(body), undefined)
  return body
}

const photograph = (name: string) => ({ media_type: 1, media_url: `https://images.example.com/${name}.jpg` })

onEngines('the history of a subject with its changes', {}, (service) => {
  const read = async (path: string, key = service().tenant.readKey): Promise<History> => {
    const { status, text } = await call(service(), path, { key })
    assert.equal(status, 200, text)
    return bodyOf(text)
  }
  const saidBy = ({ changes = null, changesAbsent }: HistoryEvent) => changes ?? changesAbsent
  const said = ({ items }: Pick<History, 'items'>) => items.map(saidBy)

  it('has pointer, value before and value now, of photographs by their address (PROTOCOL §11.4)', async () => {
    const agentRef = crypto.randomUUID()
    const versions = [
      { details: { summary: 'Tŷ – £1' }, media: ['a', 'b', 'c'].map(photograph) },
      { details: { summary: 'Tŷ gwyn – £2 🏡' }, media: ['new', 'a', 'b', 'c'].map(photograph) },
      { details: { summary: 'Tŷ gwyn – £2 🏡' }, media: ['c', 'new', 'a', 'b'].map(photograph) },
    ]
    for (const version of versions)
      await publish(service(), { payload: property({ agent_ref: agentRef, ...version }) })
    await publish(service(), { remove: { agentRef, reason: 9 } })
    const path = `/v1/properties/${agentRef}/history`
    const whole = await read(`${path}?changes=true`)
    const expected = [
      'first_version',
      [
        { pointer: '/details/summary', from: 'Tŷ – £1', to: 'Tŷ gwyn – £2 🏡' },
        { pointer: '/media/0', to: photograph('new') },
      ],
      [{ pointer: '/media/0', movedFrom: 3 }],
      [
        { pointer: '/published', from: true, to: false },
        { pointer: '/removal_reason', to: 9 },
      ],
    ]
    assert.deepEqual(said(whole), expected)
    // However it is read: one by one, and as its operator.
    const steps: HistoryEvent[] = []
    for (let after = 0, head = 1; after < head;) {
      const step = await read(`${path}?changes=true&limit=1&after=${after}`)
      steps.push(...step.items)
      ;[after, head] = [step.next, step.head]
    }
    assert.deepEqual(steps, whole.items)
    const { text: operator } = await service().issue({ operator: true, adminScopes })
    const { tenantId } = service().tenant
    const shown = await read(
      `/v1/admin/tenants/${tenantId}/properties/${agentRef}/history?changes=true`,
      operator,
    )
    assert.deepEqual(shown.items, whole.items)
    // Without the parameter, the events are those of every other read.
    const plain = await read(`${path}?changes=false`)
    assert.deepEqual(plain, await read(path))
    assert.deepEqual(
      plain.items,
      whole.items.map(({ changes: _changes, changesAbsent: _absent, ...event }) => event),
    )
  })

  it('says of an erased or retained payload on either side that nothing is known (D17, PROTOCOL §5.7)', async () => {
    const agentRef = crypto.randomUUID()
    const payload = (price: number) => property({ agent_ref: agentRef, price_information: { price } })
    await publish(service(), { payload: payload(1) })
    await publish(service(), { payload: payload(2) })
    await eraseAll(service(), [{ feed: 'property', subjectId: agentRef }])
    await publish(service(), { payload: payload(3) })
    await publish(service(), { payload: payload(4) })
    const path = `/v1/properties/${agentRef}/history?changes=true`
    const price = { pointer: '/price_information/price', from: 3, to: 4 }
    assert.deepEqual(said(await read(path)), ['first_version', 'erased', 'erased', 'erased', [price]])
    const { storage, tenant } = service()
    const later = BigInt(Date.now() + 3_600_000) * (ticksPerSecond / 1_000n)
    const span = {
      key: { tenantId: tenant.tenantId, feed: 'property' },
      before: later,
      supersededBefore: later,
    } as const
    while ((await storage.retention.thin(span, 100, 'test')).kind === 'thinned') await setImmediate()
    assert.deepEqual(said(await read(path)).at(-1), 'thinned')
  })

  it('shows a key with limits nothing that its events do not show, and tells who was sent a value (D11, D17)', async () => {
    const contactRef = crypto.randomUUID()
    const version = (role: string, name: string) => ({
      payload: contact({
        contact_ref: contactRef,
        last_name: name,
        notes: `secret ${name}`,
        roles: [role, 'applicant'],
      }),
    })
    const { tenantId } = service().tenant
    const issue = (limits?: ContactLimits) =>
      service().issue({
        grants: [{ tenantId, scopes: ['contact:read'], ...(limits && { contact: limits }) }],
      })
    const limited = await issue({ roles: ['vendor'], fields: ['last_name', 'roles'] })
    const quoted = await issue()
    const { events } = await publish(
      service(),
      [
        version('vendor', 'Ŵyn'),
        version('vendor', 'Wyn'),
        version('solicitor', 'Hidden'),
        version('vendor', 'Ŵyn'),
      ],
      { feed: 'contact' },
    )
    const path = `/v1/contacts/${contactRef}/history?changes=true`
    const shown = await read(path, limited.text)
    const name = { pointer: '/last_name', from: 'Ŵyn', to: 'Wyn' }
    assert.deepEqual(said(shown), ['first_version', [name], 'erased', 'erased'])
    assert.doesNotMatch(JSON.stringify(shown), /secret|Hidden|applicant|solicitor|notes/)
    assert.match(JSON.stringify(await read(path)), /secret Hidden/)
    const later = await read(`${path}&after=${events[0]?.sequenceNumber}`, limited.text)
    assert.deepEqual(later.items, shown.items.slice(1))
    // The last event alone was asked for, and it quotes the one before.
    const last = await read(`${path}&after=${events[2]?.sequenceNumber}`, quoted.text)
    assert.match(JSON.stringify(last.items), /secret Hidden/)
    assert.equal(last.items.length, 1)
    const [receipt] = await eraseAll(service(), [{ feed: 'contact', subjectId: contactRef }])
    const { recipients } = await receiptOf(service(), receipt?.id ?? '')
    const list = recipients as readonly { readonly keyId: string; readonly events: number }[]
    assert.equal(list.find(({ keyId }) => keyId === quoted.keyId)?.events, 2)
  })

  it('compares a version with the one before in the branches of the key (D11)', async () => {
    const agentRef = crypto.randomUUID()
    const version = (branch: string, price: number) => ({
      payload: property({ agent_ref: agentRef, branch_id: branch, price_information: { price } }),
    })
    await publish(service(), [version('Dale', 1), version('Fell', 2), version('Fell', 3)])
    const path = `/v1/properties/${agentRef}/history?changes=true`
    const whole = (await read(path)).items
    const fell = (await read(path, await branchKey(service(), ['Fell']))).items
    assert.deepEqual(said({ items: fell }), [
      'first_version',
      [{ pointer: '/price_information/price', from: 2, to: 3 }],
    ])
    assert.deepEqual(fell.at(-1), whole.at(-1))
    const step = await read(
      `${path}&after=${(fell[0]?.sequenceNumber ?? 1) - 1}&limit=1`,
      await branchKey(service(), ['Fell']),
    )
    assert.deepEqual(step.items, fell.slice(0, 1))
  })

  it('is bounded, and says how many changes are not listed (PROTOCOL §11.4)', async () => {
    const agentRef = crypto.randomUUID()
    const long = 'n'.repeat(100_000)
    const many = (value: number) =>
      Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`field_${n}`, value]))
    for (const value of [1, 2]) {
      await publish(service(), { payload: property({ agent_ref: agentRef, more: many(value), [long]: {} }) })
    }
    for (const value of [2, 3]) {
      await publish(service(), { payload: property({ agent_ref: agentRef, [long]: many(value) }) })
    }
    const { items } = await read(`/v1/properties/${agentRef}/history?changes=true`)
    assert.deepEqual([items[1]?.changes?.length, items[1]?.moreChanges], [200, 800])
    const last = items[3]
    assert.equal((last?.changes?.length ?? 0) + (last?.moreChanges ?? 0), 1_000)
    assert.ok(JSON.stringify(last).length < 3 * JSON.stringify(last?.payload).length + 40_000)
  })

  it('refuses any other value of the parameter, and the parameter elsewhere (D19)', async () => {
    const path = `/v1/properties/${crypto.randomUUID()}`
    for (const [asked, code] of [
      [`${path}/history?changes=yes`, 'unknown_value'],
      [`${path}/history?changes=`, 'unknown_value'],
      [`${path}/history?changes=true&changes=true`, 'repeated'],
      [`${path}?changes=true`, 'unknown_parameter'],
    ] as const) {
      const answer = await call(service(), asked, { key: service().tenant.readKey })
      assert.equal(answer.status, 400)
      assert.deepEqual(
        [problemOf(answer).errors?.[0]?.parameter, problemOf(answer).errors?.[0]?.code],
        ['changes', code],
      )
    }
    const unknown = await call(service(), `${path}/history?changes=true`, { key: service().tenant.readKey })
    assert.equal(problemOf(unknown).code, 'subject_not_found')
  })
})

describe('events with their changes', () => {
  const eventOf = (sequenceNumber: number) => ({
    sequenceNumber,
    json: Buffer.from(
      JSON.stringify({ sequenceNumber, payload: JSON.stringify({ version: sequenceNumber }) }),
    ),
  })
  const head = { position: 9, sequenceNumber: 9, created: undefined, epoch: 'e', revision: 0, thinned: 0 }
  const run = () => ({ kind: 'run', events: [1, 2, 3].map(eventOf), next: 9, head }) as const

  it('end before the first for which there is no room, and go on from there (D8)', async () => {
    let left = 2
    const cut = await withChanges(run(), undefined, undefined, () => (left-- > 0 ? undefined : 'full'))
    assert.ok(cut.kind === 'run')
    assert.deepEqual([cut.events.map(({ sequenceNumber }) => sequenceNumber), cut.next], [[1, 2], 2])
    assert.deepEqual(await withChanges(run(), eventOf(1), undefined, () => 'full'), {
      kind: 'noRoom',
      reason: 'full',
    })
    const whole = await withChanges(run(), undefined, undefined, () => undefined)
    assert.ok(whole.kind === 'run')
    assert.deepEqual([whole.events.length, whole.next], [3, 9])
  })
})
