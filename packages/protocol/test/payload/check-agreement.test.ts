import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { acceptsContactPayload } from '../../schemas/contact-payload.check.ts'
import { acceptsPropertyPayload } from '../../schemas/property-payload.check.ts'
import { maxArrayItems, maxUrlLength } from '../../src/payload/field-rules.ts'
import { ContactPayload, PropertyPayload } from '../../schemas/index.ts'
import { fullContact, rtdfSendProperty, specProperty, subject } from './samples.ts'

interface Payload {
  readonly name: string
  readonly schema: TSchema
  readonly accepts: (value: unknown) => boolean
  readonly samples: readonly object[]
}

const payloads: readonly Payload[] = [
  {
    name: 'property',
    schema: PropertyPayload,
    accepts: acceptsPropertyPayload,
    samples: [specProperty, rtdfSendProperty],
  },
  { name: 'contact', schema: ContactPayload, accepts: acceptsContactPayload, samples: [fullContact] },
]

/** A value of each kind that a field may be given, and those at the edges of every rule. */
const oddValues: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  -0,
  3,
  2.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  10n,
  '',
  'text',
  subject,
  subject.toUpperCase(),
  `{${subject}}`,
  `${subject}\n`,
  'https://example.org/a b.jpg',
  'HTTP://[::1]:80/?#',
  'https://user@example.org/',
  'javascript:alert(1)',
  ...[0, 1].map((more) => `https://example.org/${'a'.repeat(maxUrlLength - 20 + more)}`),
  // As many characters as are allowed, in twice the code units; and with halves of pairs.
  ...[0, 1].map((more) => `https://example.org/${'🏠'.repeat(maxUrlLength - 20 + more)}`),
  ...[0, 1].map(
    (more) => `https://example.org/${'\udfe0\ud83c'.repeat((maxUrlLength - 20) / 2)}${'a'.repeat(more)}`,
  ),
  [],
  [null],
  [undefined],
  [[]],
  ['text', 3],
  [{}],
  [{ media_url: 'ftp://example.org', consent: { marketing: 1 }, room_photo_urls: ['x'] }],
  ...[0, 1].map((more) => Array.from({ length: maxArrayItems + more }, () => null)),
  {},
  { length: 3 },
  Object.create({ marketing: 3, bedrooms: 'inherited' }),
  new Date(0),
  () => true,
]

type Path = readonly string[]

/** Every path of members that a schema knows, with `0` for the first element of a list. */
function pathsOf(schema: object, parent: Path = []): readonly Path[] {
  return Object.entries(schema).flatMap(([keyword, value]: [string, object]) => {
    const names = keyword === 'items' ? { 0: value } : keyword === 'properties' ? value : {}
    return Object.entries(names).flatMap(([name, member]: [string, object]) => {
      const path = [...parent, name]
      return [path, ...pathsOf(member, path)]
    })
  })
}

/** The value with a member put in, and around it what the path needs. */
function withMember(value: unknown, [name, ...rest]: Path, member: unknown): unknown {
  if (name === undefined) return member
  if (name === '0') {
    const [first, ...others] = Array.isArray(value) ? (value as unknown[]) : []
    return [withMember(first, rest, member), ...others]
  }
  const parent: object = typeof value === 'object' && value !== null ? value : {}
  return { ...parent, [name]: withMember(Reflect.get(parent, name), rest, member) }
}

describe('the check of a payload that is made ahead of time', () => {
  for (const { name, schema, accepts, samples } of payloads) {
    const compiled = Compile(schema)
    const agree = (value: unknown): boolean => {
      const accepted = compiled.Check(value)
      assert.equal(accepts(value), accepted)
      return accepted
    }

    it(`agrees with TypeBox about every field of a ${name}, whatever it holds (P11)`, () => {
      for (const value of oddValues) agree(value)
      const answers = { accepted: 0, refused: 0 }
      for (const sample of samples) {
        for (const path of pathsOf(schema)) {
          for (const value of oddValues) {
            const changed = withMember(sample, path, value)
            if (agree(changed)) answers.accepted += 1
            else answers.refused += 1
          }
        }
      }
      assert.ok(answers.accepted > 500 && answers.refused > 500, JSON.stringify(answers))
    })

    it(`agrees with TypeBox about any ${name} (P11)`, () => {
      const value = fc.oneof(
        fc.anything({ withNullPrototype: true }),
        fc.jsonValue(),
        fc.constantFrom(...oddValues),
      )
      const changes = fc.array(fc.tuple(fc.constantFrom(...pathsOf(schema)), value), { maxLength: 4 })
      fc.assert(
        fc.property(fc.constantFrom(...samples), changes, (sample, members) => {
          agree(
            members.reduce<unknown>((payload, [path, member]) => withMember(payload, path, member), sample),
          )
        }),
        { numRuns: 3_000 },
      )
      fc.assert(
        fc.property(value, (payload) => void agree(payload)),
        { numRuns: 1_000 },
      )
    })
  }
})
