/** The request that somebody filled in, and the same request for a terminal. */
import type { Query } from '../../base.ts'
import { withQuery } from '../../base.ts'
import { curl, quoted } from '../../words/curl.ts'
import type { Access } from '../../session/access.ts'
import type { ApiOperation, ApiParameter } from './read-document.ts'

/** What is filled in, by the names of parameters. */
export type Values = Readonly<Record<string, string | undefined>>

export interface MadeRequest {
  readonly method: ApiOperation['method']
  /** With its query, below the base of the service. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | undefined
}

/** The initial value of a parameter. Anybody who tries an erasure has to confirm it. */
export function presetOf({ name }: ApiParameter, access: Access, tenantId: string | undefined): string {
  if (name === 'dryRun') return 'true'
  const isNeeded = name === 'tenantId' || (name === 'x-tenant' && access.grants.length > 1)
  return isNeeded ? (tenantId ?? '') : ''
}

/** The names of required parameters that are missing. */
export function missingOf({ parameters }: ApiOperation, values: Values): readonly string[] {
  return parameters.filter(({ name, isRequired }) => isRequired && !values[name]).map(({ name }) => name)
}

/** `text`: the body. Empty values are left out. */
export function requestOf(
  { method, path, parameters, sample }: ApiOperation,
  values: Values,
  text: string,
): MadeRequest {
  const given = (place: ApiParameter['place']): Readonly<Record<string, string>> =>
    Object.fromEntries(
      parameters.flatMap((one) => {
        const value = one.place === place ? values[one.name] : undefined
        return value === undefined || value === '' ? [] : [[one.name, value]]
      }),
    )
  const query: Query = given('query')
  const parts = given('path')
  const filled = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = parts[name]
    return value === undefined ? whole : encodeURIComponent(value)
  })
  return {
    method,
    path: withQuery(filled, query),
    headers: given('header'),
    text: sample === undefined ? undefined : text,
  }
}

/** The sender fills in the key. */
export function curlOf({ method, path, headers, text }: MadeRequest, serviceUrl: string): string {
  return curl(
    [
      ...(method === 'GET' ? [] : [`-X ${method}`]),
      '-H "x-api-key: $PROPERTY_EVENTS_KEY"',
      ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
      ...(text === undefined ? [] : ["-H 'content-type: application/json'", `--data ${quoted(text)}`]),
    ],
    `${serviceUrl}${path}`,
  )
}
