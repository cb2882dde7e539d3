/** The events of a request are read one by one, and so each is what it is alone. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { catalogues } from '@property-events/protocol'
import * as fc from 'fast-check'
import { defaultPublicationLimits } from '../../src/http/limits.ts'
import { publicationSteps, readPublication } from '../../src/publishing/read-publication.ts'
import type { PublicationReading } from '../../src/publishing/read-publication.ts'
import { hostileBodies } from '../support/hostile-bodies.ts'

const home = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'

const publicationOf = (body: Buffer, format: 'json' | 'ndjson') => ({
  feed: 'property' as const,
  body,
  format,
  catalogue: catalogues.default,
  limits: defaultPublicationLimits,
  newId: () => 'made',
})

const read = (text: string, format: 'json' | 'ndjson') =>
  readPublication(publicationOf(Buffer.from(text), format))

const space = fc.constantFrom('', ' ', '\t', '\r', ' '.repeat(70_000), ' '.repeat(150_000))
const note = fc.constantFrom(
  '',
  'é’',
  '\\u00e9',
  '\\ud83d\\ude00',
  'n'.repeat(20_000),
  '’'.repeat(45_000),
  'x'.repeat(130_000),
)
const payload = fc
  .tuple(fc.constantFrom('true', 'false', 'true', 'false', '1.50'), note, space)
  .map(
    ([published, text, gap]) =>
      `{"agent_ref":"${home}",${gap}"published":${published},"note":${gap}"${text}"}`,
  )
const member = fc.oneof(
  { weight: 20, arbitrary: payload.map((text) => `"payload":${text}`) },
  { weight: 9, arbitrary: payload.map((text) => `"payload":${JSON.stringify(text)}`) },
  fc.constantFrom(
    `"remove":{"agentRef":"${home}"}`,
    '"payload":{"prototype":1}',
    '"payload":{"\\u0061":1}',
    '"payload":{"a":1,"a":2}',
    '"payload":9007199254740993',
    `"payload":"${'['.repeat(40)}"`,
    `"payload":${'['.repeat(40)}${']'.repeat(40)}`,
    '"eventType":"PropertyUpdated"',
    '"other":1',
  ),
)
const event = fc
  .tuple(fc.oneof({ weight: 9, arbitrary: fc.tuple(member) }, fc.tuple(member, member)), space)
  .map(([members, gap]) => `{${members.join(`,${gap}`)}${gap}}`)

/** Without what the index decides. */
const draftsOf = (reading: PublicationReading) => (reading.kind === 'drafts' ? reading.drafts : undefined)

describe('an event among others', () => {
  for (const format of ['json', 'ndjson'] as const) {
    it(`is read as it would be alone: its draft, its faults and their places (${format}, P11, D22)`, () => {
      const seen = { drafts: 0, faults: 0 }
      fc.assert(
        fc.property(fc.array(event, { minLength: 1, maxLength: 6 }), space, (events, gap) => {
          const body =
            format === 'json' ? `${gap}[${events.join(`${gap},`)}]${gap}` : events.join(`${gap}\n${gap}`)
          const together = read(body, format)
          const alone = events.map((text) => read(text, 'json'))
          const [first] = alone.flatMap((reading, index) => {
            if (reading.kind === 'drafts') return []
            // Strict reading comes first for an array; lines are read to the end.
            return reading.errors.map((error) => ({ ...error, pointer: `/${index}${error.pointer}` }))
          })
          if (first === undefined) {
            seen.drafts += 1
            assert.deepEqual(
              draftsOf(together),
              alone.flatMap((reading) => draftsOf(reading) ?? []),
            )
            return
          }
          seen.faults += 1
          assert.ok(together.kind === 'faults')
          const all = alone.flatMap((reading, index) =>
            reading.kind === 'drafts'
              ? []
              : reading.errors.map(({ pointer, code }) => `/${index}${pointer} ${code}`),
          )
          const isStrict = ({ code }: { code: string }) => strictCodes.has(code)
          const strict = alone.flatMap((reading, index) =>
            reading.kind === 'drafts' || !reading.errors.some(isStrict) || inText(events[index] ?? '')
              ? []
              : reading.errors.map(({ pointer, code }) => `/${index}${pointer} ${code}`),
          )
          const expected = strict.length === 0 ? all : format === 'json' ? strict.slice(0, 1) : strict
          assert.deepEqual(
            together.errors.map(({ pointer, code }) => `${pointer} ${code}`),
            expected,
          )
        }),
        { numRuns: 80 },
      )
      assert.ok(seen.drafts > 5 && seen.faults > 20, JSON.stringify(seen))
    })
  }
})

const strictCodes = new Set(['duplicate_key', 'number_out_of_range', 'too_deep', 'invalid_json'])

/** The fault is one of a payload's text, which is a fault of that event alone. */
function inText(text: string): boolean {
  const reading = read(text, 'json')
  return (
    reading.kind === 'faults' &&
    reading.errors.some(({ message }) => message.startsWith("In the payload's text"))
  )
}

/** Fewer than these would be long ones: 64 kB of white space, or 32 kB of an event, in each. */
const fewestSteps: Readonly<Record<string, number>> = {
  '5.5 million lines of {}': 1_000,
  '16.7 million line feeds': 256,
  '[{},{},…]': 1_000,
  '[0,0,…] of 8 million': 1_000,
  'one object of 1.3 million members': 30,
  'the same in an array': 30,
  'the same on a line': 30,
  'the same as a payload': 30,
  '16.7 MB of blanks': 256,
  '16.7 MB of blanks in an array': 256,
  '16.7 MB of blanks behind an array': 256,
  '16.7 MB of blanks in an event': 256,
  '16.7 MB of blanks behind an event': 256,
  'one string of 16 MB': 26,
  'a payload text of 16 MB': 26,
  'a payload text of 16 MB, escaped': 26,
  'payloads of 256 KiB full of members': 64 * 12,
  'payload texts of 256 KiB full of members': 64 * 12,
}

describe('a hostile body', () => {
  for (const { name, format, make, fault } of hostileBodies) {
    if (!(name in fewestSteps)) continue
    it(`is read in steps that are all short: ${name} (D9)`, () => {
      const steps = publicationSteps(publicationOf(make(), format))
      let count = 1
      let step = steps.next()
      for (; step.done !== true; step = steps.next()) count += 1
      const [first] = step.value.kind === 'faults' ? step.value.errors : []
      assert.equal(`${first?.pointer} ${first?.code}`, fault)
      assert.ok(count >= (fewestSteps[name] ?? 0), `${count} steps`)
    })
  }
})

describe('a body of 16 MB', () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const heldBytes = (): number => {
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }

  const bodyOf = (count: number, characters: number): Buffer => {
    const payload = { agent_ref: home, published: true, note: `${'a'.repeat(characters)}’` }
    return Buffer.from(JSON.stringify(Array.from({ length: count }, () => ({ payload }))))
  }

  // Two bytes a character, and events of which one and nearly two go into what is decoded at a time.
  for (const characters of [14_800, 31_000, 250_000]) {
    it(`needs at most four times its memory to read, in events of ${characters} characters (D9)`, () => {
      const count = Math.min(1_000, Math.floor(16.6e6 / (characters + 120)))
      const beforeBytes = heldBytes()
      const body = bodyOf(count, characters)
      const steps = publicationSteps(publicationOf(body, 'json'))
      let mostBytes = 0
      let taken = 0
      let step = steps.next()
      for (; step.done !== true; step = steps.next()) {
        if (taken % 200 === 0) mostBytes = Math.max(mostBytes, heldBytes())
        taken += 1
      }
      mostBytes = Math.max(mostBytes, heldBytes())
      assert.equal(draftsOf(step.value)?.length, count)
      const times = (mostBytes - beforeBytes) / body.length
      assert.ok(times <= 4, `${times} times its memory`)
    })
  }
})

describe('a large but allowed publication', () => {
  it('is stored: a payload among megabytes of white space, and one whose text is nothing but escapes (D22)', () => {
    const blanks = ' '.repeat(2 ** 22)
    const spaced = `{"payload":${blanks}{"agent_ref":${blanks}"${home}","published":${blanks}true}${blanks}}`
    for (const body of [
      spaced,
      `[${spaced}]`,
      `${blanks}[${blanks}${spaced.replaceAll(blanks, ' ')}${blanks}]`,
    ]) {
      const [draft] = draftsOf(read(body, 'json')) ?? []
      assert.ok(draft?.content.kind === 'payload')
      assert.equal(draft.content.text, `{"agent_ref":"${home}","published":true}`)
    }
    const head = `{"agent_ref":"${home}","published":true,"note":"`
    const text = `${head}${'x'.repeat(256 * 1_024 - head.length - 2)}"}`
    const escaped = text.replaceAll(
      /[^]/g,
      (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    const [draft] = draftsOf(read(`[{"payload":"${escaped}"}]`, 'json')) ?? []
    assert.ok(draft?.content.kind === 'payload')
    assert.equal(draft.content.text, text)
  })

  it('ends at 256 KiB of a payload sent as text, before that is read (PROTOCOL §4)', () => {
    const reading = read(JSON.stringify({ payload: '['.repeat(256 * 1_024 + 1) }), 'json')
    assert.deepEqual(
      reading.kind === 'faults' && reading.errors.map(({ pointer, code }) => `${pointer} ${code}`),
      ['/payload payload_too_large'],
    )
  })
})
