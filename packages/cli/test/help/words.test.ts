import assert from 'node:assert/strict'
import { delimiter, dirname } from 'node:path'
import { describe, it } from 'node:test'
import { nearestName } from '@property-events/protocol'
import { programNameOf } from '../../src/program-name.ts'
import { suggest } from '../../src/refusal.ts'
import { boxText, jsonText, plainText, tableText } from '../../src/terminal-text.ts'
import { readTimestamp } from '../../src/timestamp-option.ts'

describe('text from elsewhere on a terminal', () => {
  it('cannot move the cursor, ring the bell, set a title or turn the writing round', () => {
    const hostile = 'a\u001b[2Jb\u0007c\u009b31md\u202ee\r\nf\u007f'
    assert.equal(plainText(hostile), String.raw`a\u001b[2Jb\u0007c\u009b31md\u202ee\u000d\u000af\u007f`)
  })

  it('keeps line ends if there are lines, and every letter of every language', () => {
    assert.equal(plainText('a\nb\tc\r', { multiline: true }), 'a\nb\tc\\u000d')
    assert.equal(plainText('£450,000 – café, ул. Ленина 🏠'), '£450,000 – café, ул. Ленина 🏠')
  })

  it('is the same value as JSON, without a raw control character', () => {
    const value = { text: 'a\u009b\u202e\u001b\u007f"\\' }
    const json = jsonText(value)
    assert.deepEqual(JSON.parse(json), value)
    assert.match(json, /^[\x20-\x7e]*$/)
  })

  it('is shown in columns and frames as wide as its longest line', () => {
    assert.equal(
      tableText(
        ['id', 'name'],
        [
          ['1', 'Hill'],
          ['22', 'B\u001bC'],
        ],
      ),
      'id  name\n1   Hill\n22  B\\u001bC\n',
    )
    assert.equal(boxText(['ab', 'c']), '┌────┐\n│ ab │\n│ c  │\n└────┘\n')
  })
})

describe('the name by which the program is called', () => {
  it('is one that the shell of who called it finds', () => {
    const script = '/srv/feed/node_modules/.bin/property-events'
    assert.equal(programNameOf(script, { npm_command: 'exec', PATH: dirname(script) }), 'npx property-events')
    assert.equal(programNameOf(script, { PATH: `/usr/bin${delimiter}${dirname(script)}` }), 'property-events')
    assert.equal(programNameOf(script, { PATH: '/usr/bin' }), script)
    assert.equal(programNameOf('/my feed/property-events.mjs', {}), "'/my feed/property-events.mjs'")
  })
})

describe('did you mean', () => {
  it('finds the word with a letter too many, too few, changed or in another case', () => {
    const words = ['PROPERTY_EVENTS_PORT', 'PROPERTY_EVENTS_DATA']
    for (const written of [
      'PROPERTY_EVENTS_PROT',
      'PROPERTY_EVENT_PORT',
      'property_events_port',
      'PROPERTY_EVENTS_PORTS',
    ]) {
      assert.equal(nearestName(written, words), 'PROPERTY_EVENTS_PORT')
    }
  })

  it('says nothing when nothing is near', () => {
    assert.equal(suggest('banana', ['read', 'publish']), '')
  })
})

describe('a time on the command line', () => {
  const nowMs = Date.UTC(2026, 0, 1)

  it('is a span from now, a UTC date, or a time by any clock (D5)', () => {
    assert.equal(readTimestamp('12h', nowMs), nowMs + 12 * 3_600_000)
    assert.equal(readTimestamp('90d', nowMs), Date.UTC(2026, 3, 1))
    assert.equal(readTimestamp('52w', nowMs), nowMs + 364 * 86_400_000)
    assert.equal(readTimestamp('2027-01-31', nowMs), Date.UTC(2027, 0, 31))
    assert.equal(readTimestamp('2027-01-31 12:30:00', nowMs), Date.UTC(2027, 0, 31, 12, 30))
    assert.equal(readTimestamp('2027-01-31 12:30', nowMs), Date.UTC(2027, 0, 31, 12, 30))
    assert.equal(readTimestamp('2027-07-01T12:30+01:00', nowMs), Date.UTC(2027, 6, 1, 11, 30))
    assert.equal(readTimestamp('2027-07-01t12:30:00.123456789z', nowMs), Date.UTC(2027, 6, 1, 12, 30, 0, 123))
  })

  it('is nothing else', () => {
    for (const written of [
      '',
      '90',
      '0d',
      '-1d',
      '1.5d',
      '90 d',
      '2027-02-30',
      '31/01/2027',
      'soon',
      '999999d',
    ]) {
      assert.equal(readTimestamp(written, nowMs), undefined, written)
    }
  })
})
