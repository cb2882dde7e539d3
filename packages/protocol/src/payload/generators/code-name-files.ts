/** The code lists with their names, and which field has codes of which list, as files for consumers in two languages. */
import type { Rule } from '../advice-rules.ts'
import type { CodeList } from '../code-list.ts'
import { contactAdvice } from '../contact-advice.ts'
import { propertyAdvice } from '../property-advice.ts'

type AnyCodes = CodeList<number | string>

/** A field that holds codes. */
interface CodedField {
  readonly payload: 'property' | 'contact'
  /** RFC 6901 pointer into the payload, with `*` for each item of a list. */
  readonly pointer: string
  readonly codes: AnyCodes
}

/** Every field that the advice expects a code of a list in: a field that is given a list there turns up here. */
export function codedFields(): readonly CodedField[] {
  return [...fieldsOf('property', propertyAdvice, ''), ...fieldsOf('contact', contactAdvice, '')]
}

function fieldsOf(payload: CodedField['payload'], rule: Rule, pointer: string): readonly CodedField[] {
  if (rule.kind === 'value') return rule.codes === undefined ? [] : [{ payload, pointer, codes: rule.codes }]
  if (rule.kind === 'list') return rule.item === undefined ? [] : fieldsOf(payload, rule.item, `${pointer}/*`)
  return rule.members.flatMap(([name, member]) => fieldsOf(payload, member, `${pointer}/${name}`))
}

/** How programs call a list: `price qualifier` is `priceQualifier`. */
function listKey({ name }: AnyCodes): string {
  return name.replaceAll(/ ([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function listsOf(fields: readonly CodedField[]): ReadonlyMap<string, AnyCodes> {
  return new Map(fields.map(({ codes }) => [listKey(codes), codes]))
}

const warning = 'Written by `npm run openapi`. Do not edit.'

/** `packages/client/src/listing/code-names.ts`. */
export function codeNamesModule(): string {
  const fields = codedFields()
  const lists = Array.from(listsOf(fields), ([key, { codes }]) => {
    const entries = codes.map(({ code, label }) => `    ${keyText(code)}: ${quoted(label)},\n`).join('')
    return `  ${key}: {\n${entries}  },\n`
  }).join('')
  const fieldLists = (payload: CodedField['payload']): string =>
    fields
      .filter((field) => field.payload === payload)
      .map(({ pointer, codes }) => `  ${quoted(pointer)}: '${listKey(codes)}',\n`)
      .join('')
  return `/** ${warning} */

/** What each code of a payload means, by list and code. An unknown code passes the feed unchanged, and has no name here. */
export const codeNames = {
${lists}} as const

/** The list of each field of a property payload that holds codes; \`*\` stands for each item of a list. */
export const propertyCodeLists = {
${fieldLists('property')}} as const

/** The same of a contact payload. */
export const contactCodeLists = {
${fieldLists('contact')}} as const
`
}

/** \`examples/php/CodeNames.php\`. */
export function codeNamesPhp(): string {
  const lists = Array.from(listsOf(codedFields()), ([key, { codes }]) => {
    const entries = codes
      .map(({ code, label }) => `            ${phpKey(code)} => ${phpQuoted(label)},\n`)
      .join('')
    return `        '${key}' => [\n${entries}        ],\n`
  }).join('')
  return `<?php
/** ${warning} */

declare(strict_types=1);

namespace PropertyEvents;

/** What each code of a payload means, by list and code. An unknown code passes the feed unchanged, and has no name here. */
final class CodeNames
{
    public const LISTS = [
${lists}    ];
}
`
}

function keyText(code: number | string): string {
  return typeof code === 'number' || /^[A-Za-z_]+$/.test(code) ? String(code) : quoted(code)
}

function quoted(text: string): string {
  return text.includes("'") ? `"${text}"` : `'${text}'`
}

function phpKey(code: number | string): string {
  return typeof code === 'number' ? String(code) : phpQuoted(code)
}

function phpQuoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`
}
