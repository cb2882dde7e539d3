/** What the client writes out of the protocol package, which it does not import: here the two are compared, so that neither drifts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type * as protocol from '@property-events/protocol'
import { ContactPayload, PropertyPayload } from '@property-events/protocol/schemas'
import { readContactPayload, readPropertyPayload } from '../src/index.ts'
import type {
  ContactPayload as PublishedContact,
  PropertyPayload as PublishedProperty,
} from '../src/index.ts'

/** Compiles only if each side's values are the other's. */
type Same<A, B> = [A] extends [B] ? true : false
const sameProperty: Same<protocol.PropertyPayload, PublishedProperty> = true
const sameContact: Same<protocol.ContactPayload, PublishedContact> = true

/** Every path of members in a JSON Schema, such as `details.sizing.minimum`. */
function pathsOf(schema: object, prefix = ''): readonly string[] {
  const properties = 'properties' in schema ? Object.entries(schema.properties as Record<string, object>) : []
  const items = 'items' in schema ? (schema.items as object) : {}
  return [...pathsOfEntries(properties, prefix), ...('properties' in items ? pathsOf(items, prefix) : [])]
}
function pathsOfEntries(entries: readonly (readonly [string, object])[], prefix: string): readonly string[] {
  return entries.flatMap(([name, schema]) => {
    const inner = pathsOf(schema, `${prefix}${name}.`)
    return inner.length > 0 ? inner : [`${prefix}${name}`]
  })
}

/** The same of a value that was read from a payload in which every list has one element. */
function pathsOfValue(value: unknown, prefix = ''): readonly string[] {
  if (Array.isArray(value)) return pathsOfValue(value[0], prefix)
  if (typeof value !== 'object' || value === null || 'instantMs' in value) return [prefix.slice(0, -1)]
  return Object.entries(value).flatMap(([name, member]) => pathsOfValue(member, `${prefix}${name}.`))
}

function sampleOf(schema: object): unknown {
  const type = 'type' in schema ? [schema.type].flat()[0] : 'object'
  if (type === 'object') {
    const properties = 'properties' in schema ? (schema.properties as Record<string, object>) : {}
    return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, sampleOf(inner)]))
  }
  if (type === 'array') return [sampleOf('items' in schema ? (schema.items as object) : { type: 'string' })]
  if (type === 'boolean') return true
  return type === 'string' ? 'x' : 1
}

describe('the client’s description of the wire', () => {
  it('has types of payloads that are those of the protocol package', () => {
    assert.ok(sameProperty && sameContact)
  })

  it('names every field of both payloads, except where it combines several places', () => {
    const gathered =
      /(^|\.)(risks|obligations|flood_defences|sources_of_flooding|flooded_in_last_five_years)(\.|$)/
    const readings = [
      { schema: PropertyPayload, read: readPropertyPayload },
      { schema: ContactPayload, read: readContactPayload },
    ]
    for (const { schema, read } of readings) {
      const { value } = read(JSON.stringify(sampleOf(schema)))
      const known = new Set(pathsOfValue(value).filter((path) => !gathered.test(path)))
      const defined = new Set(pathsOf(schema).filter((path) => !gathered.test(path)))
      assert.ok(defined.size > 20)
      assert.deepEqual(known, defined)
    }
  })
})
