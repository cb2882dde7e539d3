/** The lines of an import of tenants, read one by one (PROTOCOL §12.3). */
import { readJson, scopes } from '@property-events/protocol'
import { isLabel } from '../../keys/routes/key-body.ts'
import type { ProblemError } from '@property-events/protocol'
import { setImmediate as turn } from 'node:timers/promises'
import type { BodyFormat } from '../../http/requests/body-headers.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { membersOf } from '../../runtime/members-of.ts'
import type { TenantLine } from '../import-tenants.ts'
import { isReference, isTenantName, referenceWords, tenantNameWords } from './tenant-body.ts'

type ImportReading =
  | { readonly kind: 'lines'; readonly lines: readonly TenantLine[] }
  | { readonly kind: 'faults'; readonly errors: readonly ProblemError[] }

export const maxImportLines = 10_000
const maxKeysOfLine = 10
const maxFaults = 20
/** Lines at a time, some milliseconds: other requests get their turn in between. */
const linesPerTurn = 500

/** `text`: valid UTF-8, decoded; one object per line, ignoring blank lines, or an array of them. */
export async function readImport(text: string, format: BodyFormat): Promise<ImportReading> {
  const lines: TenantLine[] = []
  const errors: ProblemError[] = []
  const references = new Map<string, number>()
  const written = format === 'ndjson' ? text.split('\n') : linesOf(text)
  for (const [index, line] of written.entries()) {
    if (index % linesPerTurn === linesPerTurn - 1) await turn()
    if (line.trim() === '') continue
    const number = index + 1
    const read = readLine(line, number)
    const errorsOfLine = 'errors' in read ? read.errors : repeated(read, number, references)
    errors.push(...errorsOfLine)
    if (!('errors' in read)) lines.push(read)
    if (errors.length >= maxFaults) break
    if (lines.length > maxImportLines) {
      const message = `The file has more than ${maxImportLines} lines. Send it in parts.`
      return { kind: 'faults', errors: [{ pointer: '', code: 'too_many', message }] }
    }
  }
  if (errors.length > 0) return { kind: 'faults', errors }
  if (lines.length > 0) return { kind: 'lines', lines }
  const message =
    'The body has no line. Send one JSON object a line, such as {"reference":"4711","name":"Hill & Co"}.'
  return { kind: 'faults', errors: [{ pointer: '', code: 'missing', message }] }
}

/** The lines of an array. Text that is not an array is one line, which is then refused. */
function linesOf(text: string): readonly string[] {
  const reading = readJson(text, { maxDepth: 5 })
  const value: unknown = reading.kind === 'read' ? reading.value : undefined
  return Array.isArray(value) ? value.map((one) => JSON.stringify(one)) : [text]
}

function repeated(
  { reference }: TenantLine,
  number: number,
  references: Map<string, number>,
): readonly ProblemError[] {
  const before = references.get(reference)
  references.set(reference, before ?? number)
  if (before === undefined) return []
  const message = `Line ${number} has the reference of line ${before}.`
  return [{ pointer: `/${number}/reference`, code: 'repeated', message }]
}

const members: readonly string[] = ['reference', 'name', 'keys']

function readLine(line: string, number: number): TenantLine | { readonly errors: readonly ProblemError[] } {
  const reading = readJson(line, { maxDepth: 4 })
  const value = reading.kind === 'read' ? membersOf(reading.value) : undefined
  const fault = (member: string, message: string): ProblemError => {
    return { pointer: `/${number}${member}`, code: 'not_allowed', message: `Line ${number}: ${message}` }
  }
  if (value === undefined) {
    return { errors: [fault('', 'it is not a JSON object such as {"reference":"4711","name":"Hill & Co"}.')] }
  }
  const { reference, name } = value
  const unknown = Object.keys(value).find((member) => !members.includes(member))
  const keys = readKeys(value['keys'])
  const errors = [
    ...(unknown === undefined
      ? []
      : [fault('', `${quoteInput(unknown)} is not one of ${members.join(', ')}.`)]),
    ...(isTextOf(reference, isReference)
      ? []
      : [fault('/reference', `reference must be ${referenceWords}.`)]),
    ...(isTextOf(name, isTenantName) ? [] : [fault('/name', `name must be ${tenantNameWords}.`)]),
    ...(keys === undefined ? [fault('/keys', keysWords)] : []),
  ]
  if (errors.length > 0 || !isTextOf(reference, isReference) || !isTextOf(name, isTenantName))
    return { errors }
  return { reference, name, keys: keys ?? [] }
}

const keysWords = `keys must be a list of at most ${maxKeysOfLine} {"label":…,"scopes":[…]}, with scopes of ${scopes.join(', ')}.`

function readKeys(given: unknown): TenantLine['keys'] | undefined {
  if (given === undefined) return []
  if (!Array.isArray(given) || given.length > maxKeysOfLine) return undefined
  const keys = given.flatMap((one: unknown): TenantLine['keys'] => {
    const { label = '', scopes: words, ...others } = membersOf(one) ?? {}
    if (!Array.isArray(words) || words.length === 0 || Object.keys(others).length > 0) return []
    const wanted = scopes.filter((scope) => words.includes(scope))
    return isTextOf(label, isLabel) && wanted.length === new Set(words).size
      ? [{ label, scopes: wanted }]
      : []
  })
  return keys.length === given.length ? keys : undefined
}

function isTextOf(value: unknown, isAllowed: (text: string) => boolean): value is string {
  return typeof value === 'string' && isAllowed(value)
}
