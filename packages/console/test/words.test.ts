/** Times, numbers and texts as the console writes and reads them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countText, counted, readCount } from '../src/words/numbers.ts'
import { oneLine, typeName, webAddress } from '../src/words/plain.ts'
import {
  addressTime,
  ageText,
  fieldTime,
  localText,
  readMoment,
  readTime,
  spanText,
  utcText,
} from '../src/words/times.ts'

describe('times', () => {
  it('from the service are UTC, with seven digits or a Z (PROTOCOL §1.4)', () => {
    const ms = Date.UTC(2026, 2, 1, 9, 31, 7, 123)
    assert.equal(readTime('2026-03-01T09:31:07.1234567'), ms)
    assert.equal(readTime('2026-03-01T09:31:07.123Z'), ms)
    assert.equal(readTime('2026-03-01T09:31'), Date.UTC(2026, 2, 1, 9, 31))
    for (const text of ['', null, undefined, 'yesterday', '2026-13-01T00:00:00Z', '2026-03-01']) {
      assert.equal(readTime(text), undefined, String(text))
    }
    assert.equal(utcText(ms), '2026-03-01 09:31:07 UTC')
  })

  it('have an age in their largest unit (D31)', () => {
    const ages = [
      [0, 'now'],
      [12, '12 s ago'],
      [59, '59 s ago'],
      [60, '1 min ago'],
      [3_599, '59 min ago'],
      [4 * 3_600, '4 h ago'],
      [47 * 3_600, '47 h ago'],
      [62 * 86_400, '62 d ago'],
      [2_640 * 86_400, '7 y ago'],
      [-6 * 86_400, 'in 6 d'],
    ] as const
    for (const [seconds, text] of ages) assert.equal(ageText(0, seconds * 1_000), text)
    assert.equal(spanText(3 * 3_600 + 19 * 60), '3 h')
  })

  it('are local, with the year only if it is not the present one (D31)', () => {
    const ms = new Date(2026, 2, 1, 9, 31, 7).getTime()
    assert.equal(localText(ms, ms), '1 Mar 09:31:07')
    assert.equal(localText(ms, new Date(2027, 0, 1).getTime()), '1 Mar 2026 09:31:07')
  })

  it('go from an address into a field of the browser and back as the same moment (D31)', () => {
    const local = new Date(2026, 2, 1, 9, 31).getTime()
    const inAddress = `${new Date(local).toISOString().slice(0, 16)}Z`
    assert.equal(addressTime('2026-03-01T09:31'), inAddress)
    assert.equal(fieldTime(inAddress), '2026-03-01T09:31')
    assert.equal(fieldTime(new Date(local + 7_123).toISOString()), '2026-03-01T09:31')
    assert.equal(addressTime(fieldTime('2026-03-01')), '2026-03-01T00:00Z')
    assert.equal(addressTime(fieldTime('2026-03-01', true)), '2026-03-01T23:59Z')
    for (const none of [undefined, '', 'soon', '2026-13-01']) assert.equal(fieldTime(none), '')
    for (const none of ['', 'soon']) assert.equal(addressTime(none), undefined)
  })

  it('that are typed are local unless they give a zone; any other text does nothing (D5)', () => {
    const now = new Date(2026, 2, 1, 12).getTime()
    assert.equal(readMoment('2026-03-01 09:00', now), new Date(2026, 2, 1, 9).getTime())
    assert.equal(readMoment(' 2026-03-01T09:00:05.25 ', now), new Date(2026, 2, 1, 9, 0, 5, 250).getTime())
    assert.equal(readMoment('9:05', now), new Date(2026, 2, 1, 9, 5).getTime())
    assert.equal(readMoment('2026-03-01T09:31:07.1234567Z', now), Date.UTC(2026, 2, 1, 9, 31, 7, 123))
    for (const offset of ['+01:30', '+0130'])
      assert.equal(readMoment(`2026-03-01T09:00:00${offset}`, now), Date.UTC(2026, 2, 1, 7, 30))
    assert.equal(readMoment('2026-03-01 09:00:00-03', now), Date.UTC(2026, 2, 1, 12))
    for (const text of [
      '',
      'soon',
      '2025-02-30',
      '2026-03-01 25:00',
      '24:00',
      '2026-03-01T09:60',
      '1e3',
      '💥',
    ]) {
      assert.equal(readMoment(text, now), undefined, text)
    }
  })
})

describe('numbers', () => {
  it('are written and read with thousands separators (D31)', () => {
    assert.equal(countText(1_204_511), '1,204,511')
    assert.equal(counted(1, 'event'), '1 event')
    assert.equal(counted(0, 'agency', 'agencies'), '0 agencies')
    assert.equal(readCount(' #1,204,511 '), 1_204_511)
    for (const text of ['', '0', '-1', '1.5', '1e3', '99999999999999999999'])
      assert.equal(readCount(text), undefined)
  })
})

/** Those that keep a text from right to left to itself. */
const withoutIsolates = (text: string): string => text.replaceAll(/[\u2068\u2069]/g, '')

describe('texts of payloads', () => {
  it('stay on one line that cannot change its direction or hide text, however long they are (D31)', () => {
    assert.equal(oneLine('12 Mill\u202E Lane\n\n Aylsham\u0000'), '12 Mill Lane Aylsham')
    assert.equal(oneLine('x'.repeat(1_000_000)).length, 200)
    assert.equal(oneLine('<img src=x onerror=alert(1)>'), '<img src=x onerror=alert(1)>')
  })

  it('keep each of their characters whole where they are cut: letters with marks, emoji, flags, families (D31)', () => {
    const whole = 'Tŷ w\u0302y – £450 🏡 👩🏽‍🌾 🏴󠁧󠁢󠁷󠁬󠁳󠁿 🇬🇧🇫🇷 👨‍👩‍👧‍👦 می‌خواهم ❤️ שָׁלוֹם e\u0301 end'
    const characters = (text: string) =>
      [...new Intl.Segmenter('en').segment(text)].map(({ segment }) => segment)
    // A joiner that joins nothing any more goes.
    const known = new Set([...characters(whole), '…', ' ', 'ی'])
    assert.equal(withoutIsolates(oneLine(whole)), whole)
    for (let longest = 1; longest <= whole.length; longest += 1) {
      // Blanks are joined first, and of very long texts only the beginning is read.
      for (const text of [whole, `${' '.repeat(longest * 3)}${whole}`, whole.repeat(9)]) {
        const line = withoutIsolates(oneLine(text, longest))
        assert.ok(line.isWellFormed() && line.length <= longest, `${longest}: ${line}`)
        assert.deepEqual(
          characters(line).filter((one) => !known.has(one)),
          [],
          `${longest}: ${line}`,
        )
      }
    }
  })

  it('that run from right to left do not turn the text around them, nor does a cut or a sign of their own let them (D31)', () => {
    assert.equal(oneLine('Tŷ Gwyn'), 'Tŷ Gwyn')
    assert.equal(oneLine('בית 12'), '\u2068בית 12\u2069')
    assert.equal(oneLine('Gwyn, بيت'), '\u2068Gwyn, بيت\u2069')
    // One within another: a sentence with a message in it.
    assert.equal(oneLine(`says ${oneLine('בית')}. 12`), '\u2068says \u2068בית\u2069. 12\u2069')
    for (const text of [
      'בית\u2069 12',
      '\u2067בית',
      '\u2068בית',
      'a \u2068בית\u202E b\u2069 c',
      'בית '.repeat(40),
    ]) {
      for (const longest of [4, 9, 200]) {
        const line = oneLine(`${text} ${oneLine(text)} ${text}`, longest)
        assert.equal(line.at(0), '\u2068', text)
        let depth = 0
        for (let at = 0; at < line.length; at += 1) {
          depth += { '\u2068': 1, '\u2069': -1 }[line.charAt(at)] ?? 0
          assert.ok(depth > 0 || at === line.length - 1, `${text} in ${longest}: ${JSON.stringify(line)}`)
        }
        assert.equal(depth, 0)
        assert.doesNotMatch(line, /[\u202A-\u202E\u2066\u2067]/)
      }
    }
  })

  it('become links only for http and https addresses without a user (D31)', () => {
    assert.equal(webAddress('https://www.example.com/a'), 'https://www.example.com/a')
    for (const text of [
      'javascript:alert(1)',
      ' javascript:alert(1)',
      'data:text/html,x',
      'https://a:b@example.com',
      '/x',
      '',
    ]) {
      assert.equal(webAddress(text), undefined, text)
    }
  })

  it('name the types of events (D12)', () => {
    assert.equal(typeName('PropertyUpdated'), 'Updated')
    assert.equal(typeName('ContactErased'), 'Erased')
    assert.equal(typeName('ValuationBooked'), 'ValuationBooked')
  })
})
