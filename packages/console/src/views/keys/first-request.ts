/** A request to paste into a terminal unchanged: the first thing to try with a new key. */

export interface NewKeyUse {
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
