/** Erasing: what is filled in, and how far an erasure is. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isTypedAgain, readErasureForm, stateWords } from '../../src/views/erasures/erasure-form.ts'

const subjectId = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'
const form = {
  feed: 'contact',
  subjectId: ` ${subjectId.toUpperCase()} `,
  reason: 'objection',
  caseRef: '',
} as const

describe('an erasure', () => {
  it('is asked for with a reference, a reason and a case (PROTOCOL §5.7)', () => {
    assert.deepEqual(readErasureForm(form), {
      kind: 'body',
      body: { feed: 'contact', subjectId, reason: 'objection' },
    })
    assert.deepEqual(readErasureForm({ ...form, caseRef: ' DSAR-17 ' }), {
      kind: 'body',
      body: { feed: 'contact', subjectId, reason: 'objection', caseRef: 'DSAR-17' },
    })
  })

  it('says what is wrong at each field (PROTOCOL §5.7)', () => {
    const reading = readErasureForm({ ...form, subjectId: 'x', reason: 'replayed', caseRef: 'Mr Quillon' })
    assert(reading.kind === 'faults')
    assert.deepEqual(
      reading.faults.map(({ field }) => field),
      ['subjectId', 'reason', 'caseRef'],
    )
  })

  it('needs the reference a second time (D17)', () => {
    assert.equal(isTypedAgain(form, subjectId), true)
    for (const typed of ['', ' ', subjectId.slice(1), `${subjectId}0`])
      assert.equal(isTypedAgain(form, typed), false)
    assert.equal(isTypedAgain({ ...form, subjectId: '' }, ''), false)
  })

  it('says how far it has got, even in states that this page does not know (PROTOCOL §5.7)', () => {
    const at = (state: string) => stateWords({ state, reduced: 3, events: 12 })
    assert.equal(at('reducing'), 'removing payloads: 3 of 12 events')
    assert.equal(at('unreachable'), 'no longer in any response')
    assert.equal(at('something_new'), 'something_new')
  })
})
