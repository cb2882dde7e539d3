/** Which tenant a request is for if its key has several: the header `x-tenant`, or `?tenant=` under `/v1` (PROTOCOL §2.7). */
import { parseUuid } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import type { Request } from '../exchange.ts'
import type { Refusal } from '../problem/problem.ts'
import { quoteInput } from './echo-text.ts'

export const tenantHeader = 'x-tenant'

/** For the OpenAPI document. */
export const tenantHeaderParameter = {
  type: 'object',
  properties: {
    [tenantHeader]: {
      type: 'string',
      format: 'uuid',
      description: 'The tenant, for a key that covers several.',
    },
  },
} as const

/** For the OpenAPI document, of operations under `/v1`. */
export const tenantQueryParameter = {
  type: 'object',
  properties: {
    tenant: {
      type: 'string',
      format: 'uuid',
      description: 'The tenant, for a key that covers several: in place of the header `x-tenant`.',
    },
  },
} as const

/** A query without its `tenant`. */
export interface TenantQuery {
  readonly query: string
  /** As sent, decoded; more than one if it was repeated. */
  readonly tenants: readonly string[]
}

const none: readonly string[] = []

/** Our own operations read their queries strictly, so this parameter, which all of them share, is removed first (D19). */
export function takeTenant(query: string): TenantQuery {
  if (!query.includes('tenant=')) return { query, tenants: none }
  const parts = query.split('&')
  const own = parts.filter((part) => part.startsWith('tenant='))
  if (own.length === 0) return { query, tenants: none }
  const rest = parts.filter((part) => !part.startsWith('tenant=')).join('&')
  return { query: rest, tenants: own.map((part) => decoded(part.slice('tenant='.length))) }
}

/** Text that is not percent-encoded UTF-8 is not a UUID either. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The tenant that a request names, in lower case; `undefined` if it names none. */
export function chosenTenant(request: Request, inQuery: readonly string[]): string | undefined | Refusal {
  const inHeader = request.header(tenantHeader)
  if (inHeader === undefined && inQuery.length === 0) return undefined
  const errors: ProblemError[] = []
  const read = (parameter: string, text: string): string | undefined => {
    const tenantId = parseUuid(text)
    if (tenantId === undefined) {
      const message = `${quoteInput(text)} is not the id of a tenant: a UUID, as in the "tenantId" of an event. With a key of one tenant, leave it out.`
      errors.push({ parameter, code: 'not_a_uuid', message })
    }
    return tenantId
  }
  if (inQuery.length > 1) {
    errors.push({
      parameter: 'tenant',
      code: 'repeated',
      message: 'It was sent more than once; send it once.',
    })
  }
  const named = [
    ...(inHeader === undefined ? [] : [read(tenantHeader, inHeader)]),
    ...inQuery.slice(0, 1).map((text) => read('tenant', text)),
  ]
  if (errors.length === 0 && new Set(named).size > 1) {
    const message = `The header ${tenantHeader} and the parameter name different tenants. Send one of the two.`
    errors.push({ parameter: 'tenant', code: 'contradiction', message })
  }
  return errors.length === 0 ? named[0] : { code: 'invalid_parameter', errors }
}
