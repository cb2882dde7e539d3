/** The form to create or change a key, turned into the body of the request (PROTOCOL §12.4). */
import type { Key, ProblemError } from '@property-events/protocol/wire'
import { addressTime, fieldTime, readMoment } from '../../words/times.ts'
import { branchScopes, givenBy } from './key-scopes.ts'
import type { Giver } from './key-scopes.ts'

/** What can be changed later in a key. Texts, as in the form. */
export interface ChangeForm {
  readonly label: string
  /** As a field for a day and time contains it. Empty: it has no end. */
  readonly ends: string
  /** Requests a second and in a burst. Empty: the rate of all keys. */
  readonly perSecond: string
  readonly burst: string
  /** Addresses and networks, one per line. */
  readonly networks: string
}

export interface KeyForm extends ChangeForm {
  readonly scopes: readonly string[]
  /** Ids of further agencies, one per line. */
  readonly tenants: string
  /** One per line. */
  readonly branches: string
  /** For contacts; none means all. */
  readonly roles: readonly string[]
  readonly fields: readonly string[]
}

export const emptyForm: KeyForm = {
  label: '',
  scopes: ['property:read'],
  tenants: '',
  branches: '',
  ends: '',
  perSecond: '',
  burst: '',
  networks: '',
  roles: [],
  fields: [],
}

export interface KeyFault {
  readonly field: keyof KeyForm
  readonly message: string
}

type KeyReading =
  | { readonly kind: 'body'; readonly body: object }
  | { readonly kind: 'faults'; readonly faults: readonly KeyFault[] }

const longestLabel = 200
const mostRequests = 1_000_000

/** `tenantId`: for a key of one tenant; without it, it is an operator key. The service checks it again. */
export function readKeyForm(
  form: KeyForm,
  tenantId: string | undefined,
  giver: Giver,
  nowMs: number,
): KeyReading {
  const { scopes, roles, fields } = form
  const { faults, label, expiresAt, rate, networks } = readChange(form, nowMs)
  const fault = (field: keyof KeyForm, message: string): void => void faults.push({ field, message })
  if (scopes.length === 0) fault('scopes', 'Choose at least one scope.')
  const further = linesOf(form.tenants)
  for (const id of further) {
    const wanting = scopes.find((scope) => !givenBy(giver, id).some((one) => one.scope === scope))
    if (!uuid.test(id)) fault('tenants', `${id} is not the id of an agency.`)
    else if (wanting !== undefined) fault('tenants', `You may not give ${wanting} in ${id}.`)
  }
  const branches = linesOf(form.branches)
  const unlimited = scopes.filter((scope) => !branchScopes.includes(scope))
  if (branches.length > 0 && unlimited.length > 0) {
    const words = `Branches limit ${branchScopes.join(', ')} alone. Create another key for ${unlimited.join(', ')}.`
    fault('branches', words)
  }
  if (branches.length > 0 && further.length > 0) {
    fault('branches', 'Branches are those of one agency. Create another key for the others.')
  }
  if (faults.length > 0) return { kind: 'faults', faults }
  const isLimited = scopes.includes('contact:read') && roles.length + fields.length > 0
  const contact = { ...(roles.length > 0 && { roles }), ...(fields.length > 0 && { fields }) }
  const grants = [tenantId, ...further].map((id) => {
    return { tenantId: id, scopes, ...(branches.length > 0 && { branches }), ...(isLimited && { contact }) }
  })
  return {
    kind: 'body',
    body: {
      label,
      ...(tenantId === undefined ? { operator: true, scopes } : { grants }),
      ...(expiresAt !== null && { expiresAt }),
      ...(rate !== null && { rate }),
      ...(networks.length > 0 && { networks }),
    },
  }
}

export function changeFormOf({ label, expiresAt, rate, networks }: Key): ChangeForm {
  return {
    label,
    ends: fieldTime(expiresAt ?? undefined),
    perSecond: String(rate?.perSecond ?? ''),
    burst: String(rate?.burst ?? ''),
    networks: networks.join('\n'),
  }
}

/** Only what differs from the present key is sent. */
export function readKeyChange(form: ChangeForm, key: Key, nowMs: number): KeyReading {
  const { faults, ...after } = readChange(form, nowMs)
  const { faults: _, ...before } = readChange(changeFormOf(key), nowMs)
  const present = new Map<string, unknown>(Object.entries(before))
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(present.get(name)),
  )
  if (faults.length > 0) return { kind: 'faults', faults }
  return { kind: 'body', body: Object.fromEntries(changed) }
}

function readChange(form: ChangeForm, nowMs: number) {
  const faults: KeyFault[] = []
  const fault = (field: keyof ChangeForm, message: string): void => void faults.push({ field, message })
  const label = form.label.trim()
  if (label === '') fault('label', 'Enter what uses the key, such as Website.')
  if (label.length > longestLabel) fault('label', `A label has at most ${longestLabel} characters.`)
  if ((readMoment(form.ends, nowMs) ?? Infinity) <= nowMs)
    fault('ends', 'Choose a time in the future, or leave it empty.')
  const [perSecond = 0, burst = 0] = [form.perSecond, form.burst].map(Number)
  const hasRate = form.perSecond + form.burst !== ''
  for (const [field, number] of [
    ['perSecond', perSecond],
    ['burst', burst],
  ] as const) {
    const isWhole = Number.isInteger(number) && number >= 1 && number <= mostRequests
    if (hasRate && !isWhole) fault(field, `A whole number from 1 to ${mostRequests}, or leave both empty.`)
  }
  return {
    faults,
    label,
    expiresAt: addressTime(form.ends) ?? null,
    rate: hasRate ? { perSecond, burst } : null,
    networks: linesOf(form.networks),
  }
}

/** The faults that the service found, by the fields that they belong to. Other fields have none. */
export function serviceFaults(errors: readonly ProblemError[]): readonly KeyFault[] {
  return errors.flatMap(({ pointer = '', message }) => {
    const field = fieldsOfMembers[pointer.split('/')[1] ?? '']
    if (field === undefined) return []
    return [{ field: field === 'scopes' && message.startsWith('branches') ? 'branches' : field, message }]
  })
}

const fieldsOfMembers: Readonly<Record<string, keyof KeyForm>> = {
  label: 'label',
  scopes: 'scopes',
  grants: 'scopes',
  expiresAt: 'ends',
  rate: 'perSecond',
  networks: 'networks',
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return [...new Set(lines.filter((line) => line !== ''))]
}

/** A request to paste into a terminal unchanged: the first thing to try with a new key. */

interface NewKeyUse {
  /** The whole text of the key, which is shown only this once. */
  readonly text: string
  readonly operator: boolean
  readonly scopes: readonly string[]
  /** The agency, if the key has several. */
  readonly tenantId: string | undefined
  /** The base address of the service. */
  readonly serviceUrl: string
}

/** The first of these that the key may do. */
const paths: readonly (readonly [scope: string, path: string])[] = [
  ['property:read', '/api/func/api/v1/events/getevents?pageSize=10'],
  ['contact:read', '/api/func/api/v1/contactevents/getevents?pageSize=10'],
]

const exampleReference = '0b9d3f0c-5c1e-4d3a-9a55-1f2a7c3e4b5d'

const publications: readonly (readonly [scope: string, path: string, payload: object])[] = [
  ['property:publish', '/v1/property-events?dryRun=true', { agent_ref: exampleReference, published: true }],
  ['contact:publish', '/v1/contact-events?dryRun=true', { contact_ref: exampleReference }],
]

/** With curl. A key that can only publish gets a dry run, which stores nothing. */
export function firstRequest({ text, operator, scopes, tenantId, serviceUrl }: NewKeyUse): string {
  const parts = [`-H 'x-api-key: ${text}'`, ...(tenantId === undefined ? [] : [`-H 'x-tenant: ${tenantId}'`])]
  const read = operator ? undefined : paths.find(([scope]) => scopes.includes(scope))
  if (read !== undefined) return curl(parts, `${serviceUrl}${read[1]}`)
  const publication = publications.find(([scope]) => scopes.includes(scope))
  if (operator || publication === undefined) return curl(parts, `${serviceUrl}/v1/admin/self`)
  const [, path, payload] = publication
  const body = JSON.stringify({ payload })
  const sent = [...parts, "-H 'content-type: application/json'", `--data ${quoted(body)}`]
  return curl(sent, `${serviceUrl}${path}`)
}

/** `options` exactly as in the command; the address is quoted. */
function curl(options: readonly string[], url: string): string {
  return ['curl', ...options, quoted(url)].join(' \\\n  ')
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
