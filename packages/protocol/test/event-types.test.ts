/** What an event's short code says of its subject (PROTOCOL §5.2). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogues, feedNames, meaningOf, numberingNames, standardCode } from '@property-events/protocol'

describe('the short code of an event', () => {
  const table = [
    ['property', 'PropertyPublished', 'appeared'],
    ['property', 'PropertyUpdated', 'changed'],
    ['property', 'PropertyUnpublished', 'gone'],
    ['contact', 'ContactCreated', 'appeared'],
    ['contact', 'ContactUpdated', 'changed'],
    ['contact', 'ContactErased', 'gone'],
  ] as const

  it('says whether the subject appeared, changed or is gone (PROTOCOL §5.2)', () => {
    const found = table.map(([feed, code]) => [feed, code, meaningOf(feed, code)])
    assert.deepEqual(found, table)
  })

  it('is the one that the service gives for that meaning', () => {
    for (const [feed, code, meaning] of table) assert.equal(standardCode(feed, meaning), code)
  })

  it('leaves it to the payload if only a catalogue has it, or the other feed (PROTOCOL §13.4)', () => {
    const others = ['PropertyReserved', 'propertyunpublished', 'PropertyUnpublished ', '', 'toString']
    for (const feed of feedNames) {
      assert.equal(meaningOf(feed, undefined), 'unsaid')
      for (const code of others) assert.equal(meaningOf(feed, code), 'unsaid', code)
      const ofOther = table.filter(([name]) => name !== feed).map(([, code]) => meaningOf(feed, code))
      assert.deepEqual(ofOther, ['unsaid', 'unsaid', 'unsaid'])
    }
  })

  it('has a meaning in every named catalogue, for each of its codes', () => {
    for (const name of numberingNames) {
      for (const feed of feedNames) {
        const meanings = Object.keys(catalogues[name][feed]).map((code) => meaningOf(feed, code))
        assert.deepEqual(meanings.toSorted(), ['appeared', 'changed', 'gone'])
      }
    }
  })
})
