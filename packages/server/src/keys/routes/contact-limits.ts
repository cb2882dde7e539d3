/** Which contact data a new key is to read, from a request body (PROTOCOL §12.4). */
import { contactFields, contactRoleNames } from '@property-events/protocol'
import type { ContactLimits, GrantScope } from '@property-events/protocol'

export const contactWords = `contact is {"roles":[…],"fields":[…]} or one of them, beside the scope contact:read, with roles of ${contactRoleNames.join(', ')} and fields of ${contactFields.join(', ')}`

/** `fault`: the value is malformed, or the scopes do not read contacts. */
export function readContactLimits(
  given: unknown,
  scopes: readonly GrantScope[],
): ContactLimits | undefined | 'fault' {
  if (given === undefined) return undefined
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return 'fault'
  const { roles, fields, ...others }: Readonly<Record<string, unknown>> = { ...given }
  if (Object.keys(others).length > 0 || !scopes.includes('contact:read')) return 'fault'
  const wantedRoles = listOf(roles, contactRoleNames)
  const wantedFields = listOf(fields, contactFields)
  if (wantedRoles === 'fault' || wantedFields === 'fault') return 'fault'
  if (wantedRoles === undefined && wantedFields === undefined) return 'fault'
  return { ...(wantedRoles && { roles: wantedRoles }), ...(wantedFields && { fields: wantedFields }) }
}

/** Each word once, in the order of `allowed`. An empty list is a mistake: such a key would read nothing. */
function listOf<Word extends string>(
  given: unknown,
  allowed: readonly Word[],
): readonly Word[] | undefined | 'fault' {
  if (given === undefined) return undefined
  if (!Array.isArray(given) || given.length === 0) return 'fault'
  if (!given.every((one) => allowed.some((word) => word === one))) return 'fault'
  return allowed.filter((word) => given.includes(word))
}
