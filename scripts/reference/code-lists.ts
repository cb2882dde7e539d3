/** The code lists of the payloads: each with an anchor for every code, and which field of which schema has codes of which list. */
import { catalogues } from '../../packages/protocol/src/event-types.ts'
import type { CodeList } from '../../packages/protocol/src/payload/code-list.ts'
import { codedFields } from '../../packages/protocol/src/payload/generators/code-name-files.ts'
import { code, escapeHtml, link, rows } from './html.ts'
import { followed, lastOf } from './openapi.ts'
import type { OpenApi, Schema } from './openapi.ts'

type Codes = CodeList<number | string>

const payloads = { property: 'PropertyPayload', contact: 'ContactPayload' } as const

export function codeLists(): readonly Codes[] {
  return [...new Set(codedFields().map(({ codes }) => codes))]
}

/** `price qualifier` → `code-price-qualifier`. */
export function listAnchor({ name }: Codes): string {
  return `code-${name.replaceAll(' ', '-')}`
}

export function codeAnchor(list: Codes, one: number | string): string {
  return `${listAnchor(list)}-${one}`
}

/** The code list of a field, by the field's anchor. */
export type FieldCodes = ReadonlyMap<string, Codes>

/** Follows each pointer into a payload through the named parts to the schema that has the field. */
export function fieldCodes(document: OpenApi): FieldCodes {
  const found = new Map<string, Codes>()
  for (const { payload, pointer, codes } of codedFields()) {
    let schemaName: string = payloads[payload]
    let schema: Schema = { $ref: `#/${schemaName}` }
    let member = ''
    for (const step of pointer.split('/').slice(1)) {
      const holder: Schema = followed(document, schema)
      if (schema.$ref !== undefined) schemaName = lastOf(schema.$ref)
      const next = step === '*' ? holder.items : holder.properties?.[step]
      if (next === undefined) throw new Error(`${payloads[payload]} has no ${pointer}`)
      if (step !== '*') member = step
      schema = next
    }
    found.set(`${schemaName}.${member}`, codes)
  }
  return found
}

/** The section of all lists. `fields`: for each list, the fields that have its codes. */
export function codeListsHtml(fields: FieldCodes): string {
  return codeLists()
    .map((list) => {
      const used = [...fields]
        .filter(([, codes]) => codes === list)
        .map(([field]) => link(field, code(field)))
      const items = list.codes
        .map(
          ({ code: one, label }) =>
            `<li id="${codeAnchor(list, one)}">${code(String(one))} ${escapeHtml(label)}</li>`,
        )
        .join('\n')
      const title = list.name.slice(0, 1).toUpperCase() + list.name.slice(1)
      return `<section id="${listAnchor(list)}"><h3>${link(listAnchor(list), escapeHtml(title))}</h3>
<p>In ${used.join(', ')}.</p>
<ul class="codes">
${items}
</ul></section>`
    })
    .join('\n')
}

/** The numbers of the event types, which a store gets when it is made. */
export function eventTypesHtml(): string {
  const { default: usual, 'published-0': other } = catalogues
  const meanings: Readonly<Record<string, string>> = {
    PropertyPublished: 'The property is now to be shown, and was not before.',
    PropertyUpdated: 'A property that is shown has changed.',
    PropertyUnpublished: 'The property must not be shown any more.',
    ContactCreated: 'The contact is new, or there again after an erasure.',
    ContactUpdated: 'The contact has changed.',
    ContactErased: 'The contact was erased.',
  }
  const list = (['property', 'contact'] as const).flatMap((feed) =>
    Object.entries(usual[feed]).map(([name, number]) => ({
      anchor: `type-${name}`,
      name: code(name),
      kind: `${number} in ${code('default')} · ${other[feed][name]} in ${code('published-0')}`,
      text: meanings[name] ?? '',
    })),
  )
  return rows(list)
}
