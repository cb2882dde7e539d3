import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { payloadCheckFiles, payloadSchemaFiles } from '../../schemas/index.ts'

const folder = new URL('../../schemas/', import.meta.url)

/** The pointers of all schemas under `properties` that lack a description. */
function undescribed(schema: unknown, pointer: string): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([keyword, value]: [string, unknown]) => {
    if (keyword === 'items') return undescribed(value, `${pointer}/items`)
    if (keyword !== 'properties' || typeof value !== 'object' || value === null) return []
    return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
      const place = `${pointer}/${name}`
      const described = typeof member === 'object' && member !== null && 'description' in member
      return [...(described ? [] : [place]), ...undescribed(member, place)]
    })
  })
}

describe('checks of the payloads, made ahead of time', () => {
  for (const { name, text } of payloadCheckFiles()) {
    it(`${name} is what TypeBox makes of the schema today (P11)`, () => {
      const committed = readFileSync(new URL(name, folder), 'utf8')
      assert.equal(committed, text, 'Stale: run `npm run openapi`')
    })
  }
})

describe('JSON Schema files of the payloads', () => {
  for (const { name, text } of payloadSchemaFiles()) {
    it(`${name} is up to date (spec §2.3, D18)`, () => {
      const committed = readFileSync(new URL(name, folder), 'utf8')
      assert.equal(committed, text, 'Stale: run `npm run openapi`')
    })

    it(`${name} is draft 2020-12, has an id and a title, and describes every field (spec §2.3, D18)`, () => {
      const schema: unknown = JSON.parse(text)
      assert.ok(typeof schema === 'object' && schema !== null)
      assert.equal(Reflect.get(schema, '$schema'), 'https://json-schema.org/draft/2020-12/schema')
      assert.equal(Reflect.get(schema, '$id'), name)
      assert.match(String(Reflect.get(schema, 'title')), /Payload$/)
      assert.deepEqual(undescribed(schema, ''), [])
    })
  }
})
