/** Contacts: what is hidden, and for how long something is shown. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { revealReasons } from '@property-events/protocol'
import { contactChanges, contactLines, sectionsOf } from '../../src/views/contact/contact-lines.ts'
import {
  exportOf,
  readWhole,
  reasonChoices,
  revealMs,
  secondsLeft,
} from '../../src/views/contact/full-contact.ts'

describe('the lines of a contact', () => {
  it('say which fields are filled in, by name and place, and which are hidden (PROTOCOL §12.7)', () => {
    const { lines, hasMore } = contactLines({
      contact_ref: '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10',
      last_name: '•••',
      middle_name: null,
      notes: '',
      roles: ['vendor'],
      communications: [{ channel: 'email', value: '•••', preferred: true }],
    })
    assert.deepEqual(
      lines.map(({ label, value, isMasked }) => `${label}: ${value}${isMasked ? ' (hidden)' : ''}`),
      [
        'contact ref: 0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10',
        'last name: ••• (hidden)',
        'roles 1: Vendor',
        'communications 1, channel: E-mail address',
        'communications 1, value: ••• (hidden)',
        'communications 1, preferred: yes',
      ],
    )
    assert.equal(hasMore, false)
  })

  it('are grouped by the parts of the contact, those of the contact itself first (D31)', () => {
    const { lines } = contactLines({
      communications: [{ channel: 'email', value: '•••' }],
      last_name: 'Ŵyn-Jones',
    })
    assert.deepEqual(
      sectionsOf(lines).map(({ name, lines: own }) => [name, own.map(({ label }) => label)]),
      [
        ['Details', ['last name']],
        ['communications 1', ['channel', 'value']],
      ],
    )
  })

  it('are limited, whatever the payload holds (PROTOCOL §12.7)', () => {
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)
    assert.equal(contactLines(deep).lines.length, 1)
    const wide = contactLines({ list: Array.from({ length: 100_000 }, (_, n) => n), more: 1 })
    assert.deepEqual([wide.lines.length, wide.hasMore], [300, true])
    const long = contactLines({ notes: `<script>\u202E${'x'.repeat(2 ** 20)}` }).lines[0]
    assert.equal(long?.value.startsWith('<script> x'), true)
    assert.equal(long?.value.length, 4_000)
    assert.deepEqual(contactLines(null).lines, [])
  })
})

describe('what an event changed in a contact', () => {
  const said = (before: unknown, after: unknown) =>
    contactChanges(before, after).changes.map(({ label, was, is }) => [label, was, is])

  it('is listed field by field, without what is hidden (PROTOCOL §12.7)', () => {
    const before = {
      roles: ['vendor'],
      last_name: '•••',
      first_name: '•••',
      branch_id: 'HQ',
      communications: [{ channel: 'email', value: '•••', preferred: true }],
    }
    const after = {
      ...before,
      first_name: null,
      branch_id: 'North',
      communications: [
        { channel: 'email', value: '•••', preferred: false },
        { channel: 'mobile', value: '•••' },
      ],
    }
    assert.deepEqual(said(before, after), [
      ['first name', '(hidden)', undefined],
      ['branch id', 'HQ', 'North'],
      ['communications 1, preferred', 'yes', 'no'],
      ['communications 2, channel', undefined, 'Mobile telephone'],
      ['communications 2, value', undefined, '(hidden)'],
    ])
    assert.ok(contactChanges(before, { ...before, last_name: '•••' }).isUnchanged)
    const roles = (...names: readonly string[]) => ({ roles: names })
    assert.deepEqual(said(roles('vendor', 'landlord'), roles('applicant', 'vendor', 'landlord')), [
      ['roles 1', undefined, 'Applicant: looks for a property'],
    ])
    assert.deepEqual(said(roles('vendor', 'landlord'), roles('landlord', 'vendor')), [
      ['roles 1', 'place 2', 'place 1'],
    ])
  })

  it('is empty for the first event, and limited whatever a payload holds (PROTOCOL §12.7)', () => {
    assert.deepEqual(contactChanges(undefined, { last_name: 'x' }), { changes: [], isUnchanged: false })
    const wide = { list: Array.from({ length: 100_000 }, (_, n) => n) }
    assert.equal(contactChanges({}, wide).changes.length, 300)
  })
})

describe('a contact that is shown', () => {
  it('is shown for a minute, and no longer if the clock is set back (PROTOCOL §12.7)', () => {
    const nowMs = 1_000_000
    const revealed = { contact: {}, untilMs: nowMs + revealMs }
    assert.equal(secondsLeft(revealed, nowMs), 60)
    assert.equal(secondsLeft(revealed, nowMs + 59_001), 1)
    assert.equal(secondsLeft(revealed, nowMs + revealMs), undefined)
    assert.equal(secondsLeft(revealed, nowMs - 1_000), undefined)
  })

  it('needs one of the reasons that the service takes (PROTOCOL §12.7)', () => {
    assert.deepEqual(reasonChoices.map(({ reason }) => reason).toSorted(), revealReasons.toSorted())
  })
})

describe('the export of a contact', () => {
  const eventOf = (sequenceNumber: number) => ({
    id: `event ${sequenceNumber}`,
    sequenceNumber,
    tenantId: 't',
    transactionId: 'x',
    createdDate: '2026-03-01T09:31:07.0000000',
    eventType: 1,
    eventTypeShortCode: 'ContactUpdated',
    payload: `{"contact_ref":"c","last_name":"Ŵyn £${sequenceNumber}"}`,
  })

  it('has every event of it, however many answers that takes, with payloads as JSON (Article 15)', async () => {
    const asked: number[] = []
    const whole = await readWhole((after) => {
      asked.push(after)
      const items = [1, 2, 3]
        .filter((number) => number > after)
        .slice(0, 2)
        .map(eventOf)
      const next = items.at(-1)?.sequenceNumber ?? after
      const value = { items, next, head: 3, epoch: 'e', revision: 0 }
      return Promise.resolve({ kind: 'answer', value, status: 200, head: new Headers() })
    })
    assert.ok(whole.kind === 'events')
    assert.deepEqual(asked, [0, 2])
    const file = exportOf('t', 'c', whole.events, new Date(0))
    assert.deepEqual(
      file.events.map(({ sequenceNumber, payload }) => [sequenceNumber, payload]),
      [1, 2, 3].map((number) => [number, { contact_ref: 'c', last_name: `Ŵyn £${number}` }]),
    )
    assert.deepEqual([file.contactRef, file.exportedAt], ['c', '1970-01-01T00:00:00.000Z'])
  })
})
