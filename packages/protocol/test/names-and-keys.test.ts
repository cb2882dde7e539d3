import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  bytesOfUuid,
  catalogueFault,
  catalogues,
  isUuid,
  keyText,
  newKeyText,
  parseKeyText,
  parseUuid,
  uuidOfBytes,
  uuidV7,
  viewOfApiEventType,
} from '../src/index.ts'

describe('UUIDs', () => {
  it('are read in either case and in one form only (D8)', () => {
    assert.equal(parseUuid('0190A0B0-1234-7ABC-8DEF-0123456789AB'), '0190a0b0-1234-7abc-8def-0123456789ab')
    const others = [
      '{0190a0b0-1234-7abc-8def-0123456789ab}',
      'urn:uuid:0190a0b0-1234-7abc-8def-0123456789ab',
      '',
    ]
    for (const text of [
      ...others,
      '0190a0b012347abc8def0123456789ab',
      '0190a0b0-1234-7abc-8def-0123456789ag',
      ' '.repeat(36),
    ]) {
      assert.equal(isUuid(text), false, text)
    }
  })

  it('keep their bytes (spec §2.1)', () => {
    fc.assert(fc.property(fc.uuid(), (uuid) => assert.equal(uuidOfBytes(bytesOfUuid(uuid)), uuid)))
  })

  it('of version 7 rise with time (D14)', () => {
    assert.ok(uuidV7(1_000) < uuidV7(1_001))
    assert.match(uuidV7(Date.now()), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})

describe('key texts', () => {
  it('are made so that they read back (D11)', () => {
    for (let count = 0; count < 200; count += 1) {
      const { text, parts } = newKeyText()
      assert.deepEqual(parseKeyText(text), { ...parts, isTest: false })
      assert.deepEqual(parseKeyText(keyText(parts, true)), { ...parts, isTest: true })
    }
  })

  it('are of the sandbox or not by their checksum too: the prefix alone turns none into the other (PROTOCOL §2.8)', () => {
    const { text, parts } = newKeyText()
    assert.equal(parseKeyText(text.replace('pev_', 'pev_test_')), undefined)
    assert.equal(parseKeyText(keyText(parts, true).replace('pev_test_', 'pev_')), undefined)
  })

  it('with one wrong character are refused by the checksum alone (D11)', () => {
    const { text } = newKeyText()
    for (let index = 0; index < text.length; index += 1) {
      for (const other of ['0', 'z', 'A', '_', ' ', 'é']) {
        if (text[index] === other) continue
        assert.equal(parseKeyText(text.slice(0, index) + other + text.slice(index + 1)), undefined)
      }
    }
    for (const other of [
      '',
      'pev_',
      `${text} `,
      ` ${text}`,
      text.toUpperCase(),
      text.slice(1),
      'x'.repeat(100_000),
    ]) {
      assert.equal(parseKeyText(other), undefined)
    }
  })
})

describe('apiEventType', () => {
  const spellings: readonly (readonly [string, string])[] = [
    ['property', 'all'],
    ['Property', 'all'],
    ['property events', 'all'],
    ['PropertyEvent', 'all'],
    ['SalesPropertyEvents', 'sales'],
    ['sales_property', 'sales'],
    ['sales-property-events', 'sales'],
    ['LETTINGS PROPERTY EVENTS', 'lettings'],
  ]
  for (const [value, view] of spellings) {
    it(`"${value}" lists ${view} (D1)`, () => assert.equal(viewOfApiEventType('property', value), view))
  }

  it('of another feed, or unknown, is refused (D1)', () => {
    for (const value of [
      'contact',
      '',
      'sales',
      'events',
      'propertys',
      '__proto__',
      'constructor',
      'property%',
      'eventsproperty',
    ]) {
      assert.equal(viewOfApiEventType('property', value), undefined, value)
    }
    assert.equal(viewOfApiEventType('contact', 'Contact Events'), 'all')
    assert.equal(viewOfApiEventType('contact', 'property'), undefined)
  })
})

describe('event type catalogues', () => {
  it('that come with the service are usable (D12)', () => {
    assert.equal(catalogueFault(catalogues.default), undefined)
    assert.equal(catalogueFault(catalogues['published-0']), undefined)
  })

  it('that are not usable are refused with a sentence (D12)', () => {
    const faulty: readonly unknown[] = [
      null,
      {},
      { property: {}, contact: catalogues.default.contact },
      { ...catalogues.default, property: { ...catalogues.default.property, 'bad code': 1 } },
      { ...catalogues.default, property: { ...catalogues.default.property, PropertyUpdated: -1 } },
      { ...catalogues.default, property: { ...catalogues.default.property, PropertyUpdated: 'x' } },
    ]
    for (const value of faulty) assert.match(catalogueFault(value) ?? '', /^.{20,}\.$/)
  })
})
