/** Schemas as lists of fields: each with an anchor, its type in words, its limits and its meaning. */
import { listCodes } from '../../packages/protocol/src/payload/code-list.ts'
import { listAnchor } from './code-lists.ts'
import type { FieldCodes } from './code-lists.ts'
import { code, escapeHtml, link, prose, rows } from './html.ts'
import type { Links, Row } from './html.ts'
import { followed, lastOf, schemaNamed } from './openapi.ts'
import type { OpenApi, Schema } from './openapi.ts'

/** What the texts of fields are made of and lead to. */
export interface FieldLinks {
  readonly document: OpenApi
  readonly links: Links
  readonly codes: FieldCodes
}

/** The section of one named schema. */
export function schemaHtml(name: string, fields: FieldLinks): string {
  const schema = schemaNamed(fields.document, name)
  const { description = '', oneOf } = schema
  const kinds = oneOf === undefined ? '' : `<p>One of ${oneOf.map((one) => typeText(one)).join(' or ')}.</p>`
  const members = innerOf(schema).flatMap((inner) => fieldRows(inner, name, fields))
  return `<section id="${name}"><h3>${link(name, escapeHtml(name))}</h3>
${description === '' ? '' : `<p>${prose(description, fields.links)}</p>`}${kinds}
${members.length === 0 ? '' : rows(members)}</section>`
}

/** A row for each member, and for each member of objects that have no name of their own. */
export function fieldRows(schema: Schema, place: string, fields: FieldLinks): readonly Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const anchor = `${place}.${name}`
    const required = schema.required?.includes(name) === true
    const row = {
      anchor,
      name: code(anchor.slice(anchor.indexOf('.') + 1)),
      kind: kindText(member, required),
      text: fieldText(anchor, member, fields),
    }
    return [row, ...innerOf(member).flatMap((inner) => fieldRows(inner, anchor, fields))]
  })
}

/** Objects without a name in a schema: as it is, in a list, or as one of several. */
function innerOf(schema: Schema): readonly Schema[] {
  if (schema.$ref !== undefined) return []
  const alternatives = [
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.items === undefined ? [] : [schema.items]),
  ]
  return [...(schema.properties === undefined ? [] : [schema]), ...alternatives.flatMap(innerOf)]
}

function kindText(schema: Schema, required: boolean): string {
  return `${typeText(schema)}${required ? ' · <b>required</b>' : ''}`
}

/** Lists of at most so many codes stand beside their field, as they stand in its description. */
const shortList = 7

function fieldText(anchor: string, schema: Schema, { document, links, codes }: FieldLinks): string {
  const description = descriptionOf(document, schema)
  const list = codes.get(anchor)
  if (list === undefined) return prose(description, links)
  const all = listCodes(list)
  const toList = link(listAnchor(list), `${escapeHtml(list.name)}, ${list.codes.length} codes`)
  const isShort = list.codes.length <= shortList && description.includes(all)
  if (isShort || !description.includes(all)) return `${prose(description, links)} See ${toList}.`
  return prose(description, links).replace(escapeHtml(all), toList)
}

/** Its own, or that of what it refers to, or of the first of its alternatives that has one. */
function descriptionOf(document: OpenApi, schema: Schema): string {
  const own = schema.description ?? followed(document, schema).description
  const alternatives = schema.anyOf ?? schema.oneOf ?? (schema.items === undefined ? [] : [schema.items])
  return own ?? alternatives.map((one) => descriptionOf(document, one)).find((text) => text !== '') ?? ''
}

/** A type with its limits, as HTML: `integer, 1 to 1,000`. */
export function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) return link(lastOf(schema.$ref), escapeHtml(lastOf(schema.$ref)))
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives !== undefined) return alternativesText(alternatives)
  if (schema.enum?.length === 1) return code(wordOf(schema.enum[0]))
  if (schema.enum !== undefined) return `one of ${schema.enum.map((one) => code(wordOf(one))).join(', ')}`
  const types = [schema.type ?? 'anything'].flat()
  return `${types.map((type) => (type === 'array' ? listText(schema) : type)).join(' or ')}${limitsText(schema)}`
}

/** A code with its known values, of which there may be more later, is a text. */
function alternativesText(alternatives: readonly Schema[]): string {
  const isOpen = alternatives.some((one) => one.type === 'string' && one.enum === undefined)
  const shown = alternatives.filter((one) => !(isOpen && one.enum !== undefined && one.type === 'string'))
  return shown.map(typeText).join(' or ')
}

function listText({ items = {} }: Schema): string {
  return Object.keys(items).length === 0 ? 'list' : `list of ${typeText(items)}`
}

/** Safe integers and nothing else are what 2^53 − 1 stands for. */
const unlimited = Number.MAX_SAFE_INTEGER

/** What a value must keep to beside its type. Long patterns are in `openapi.json`; the text says in words what they take. */
export function limitsText(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, format, pattern } = schema
  const most = maximum === unlimited ? undefined : maximum
  const isUuid = pattern?.includes('{8}-') === true
  return [
    format === undefined ? (isUuid ? 'UUID' : '') : format === 'uuid' ? 'UUID' : escapeHtml(format),
    rangeText(minimum, most, ''),
    rangeText(minLength, maxLength, ' characters'),
    rangeText(minItems, maxItems, ' items'),
    pattern === undefined || pattern.length > 40 ? '' : code(pattern),
    schema.contentMediaType === undefined ? '' : 'JSON text',
  ]
    .filter((part) => part !== '')
    .map((part) => `, ${part}`)
    .join('')
}

function rangeText(from: number | undefined, to: number | undefined, unit: string): string {
  if (from === undefined && to === undefined) return ''
  if (to === undefined) return `from ${numberText(from ?? 0)}${unit}`
  if (from === undefined) return `at most ${numberText(to)}${unit}`
  return `${numberText(from)} to ${numberText(to)}${unit}`
}

function numberText(value: number): string {
  return value.toLocaleString('en-GB')
}

/** A value as a reader would send it. */
export function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
