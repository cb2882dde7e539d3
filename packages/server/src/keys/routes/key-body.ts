/** Bodies that make, change or rotate a key (PROTOCOL §12). */
import {
  adminScopes,
  grantScopes,
  hasAtMost,
  maxBranchLength,
  maxGrantedBranches,
  parseUuid,
  parseWindowBound,
  plainText,
  millisecondsOfTicks,
  contactFields,
  contactRoleNames,
} from '@property-events/protocol'
import type { AdminScope, GrantScope, ContactLimits } from '@property-events/protocol'
import { branchScopes, grantedBranches, unlimitedScope } from '../granted-branches.ts'
import { isNetwork } from '../allowed-networks.ts'
import type { Grant, KeyChange, KeyRate, KeyRecord } from '../key.ts'
import { readObject } from '../../http/requests/body-members.ts'
import type { BodyMembers, BodyReading } from '../../http/requests/body-members.ts'
import { membersOf } from '../../runtime/members-of.ts'

export type NewKeyBody = Pick<KeyRecord, 'label' | 'operator' | 'grants' | 'expiresMs' | 'rate'> &
  Required<Pick<KeyRecord, 'adminScopes' | 'networks'>>

const keyMembers = ['label', 'operator', 'scopes', 'grants', 'expiresAt', 'rate', 'networks'] as const
const example = '{"label":"Website","grants":[{"tenantId":"…","scopes":["property:read"]}]}'
/** Enough for several tenants: some 2,000 grants without branches. */
export const maxKeyBodyBytes = 262_144
const maxNetworks = 100
const bodyDepth = 5

export function readNewKey(text: string, nowMs: number): BodyReading<NewKeyBody> {
  return readObject(text, keyMembers, example, (members) => newKeyOf(members, nowMs), bodyDepth)
}

function newKeyOf(members: BodyMembers<(typeof keyMembers)[number]>, nowMs: number): NewKeyBody {
  const operator = members.given.get('operator') ?? false
  if (typeof operator !== 'boolean') members.fault('operator', 'operator must be true or false.')
  const body: NewKeyBody = {
    label: readLabel(members) ?? '',
    operator: operator === true,
    grants: operator === true ? [] : readGrants(members),
    adminScopes: operator === true ? readAdminScopes(members) : [],
    expiresMs: readEnd(members, nowMs),
    rate: readRate(members),
    networks: readNetworks(members) ?? [],
  }
  if (operator === true && members.given.has('grants')) {
    members.fault(
      'grants',
      'An operator key belongs to no tenant: leave grants out, and name its scopes in scopes.',
    )
  }
  if (operator === false && members.given.has('scopes')) {
    members.fault(
      'scopes',
      'The scopes of a key that is not an operator key belong in its grants, each with its tenant.',
    )
  }
  return body
}

export function readKeyChange(text: string, nowMs: number): BodyReading<KeyChange> {
  const names = ['label', 'expiresAt', 'rate', 'networks'] as const
  const read = (members: BodyMembers<(typeof names)[number]>): KeyChange => {
    if (members.nulls.has('label')) members.fault('label', 'label cannot be removed; send an empty one.')
    const orNull = <T>(member: (typeof names)[number], value: T | undefined): T | null | undefined =>
      members.nulls.has(member) ? null : value
    return {
      label: readLabel(members),
      expiresMs: orNull('expiresAt', readEnd(members, nowMs)),
      rate: orNull('rate', readRate(members)),
      networks: orNull('networks', readNetworks(members)),
    }
  }
  return readObject(text, names, '{"label":"Website","expiresAt":null}', read, bodyDepth)
}

const longestOverlapHours = 720
const defaultOverlapHours = 24

export function readRotation(text: string): BodyReading<{ readonly overlapHours: number }> {
  return readObject(text, ['overlapHours'], '{"overlapHours":24}', (members) => {
    const given = members.given.get('overlapHours') ?? defaultOverlapHours
    if (typeof given === 'number' && given >= 0 && given <= longestOverlapHours)
      return { overlapHours: given }
    return members.fault('overlapHours', `overlapHours must be a number from 0 to ${longestOverlapHours}.`)
  })
}

/** The label of a key, which may be empty. */
export function isLabel(text: string): boolean {
  return hasAtMost(text, 200) && plainText(text) === text
}

function readLabel(members: BodyMembers<'label'>): string | undefined {
  return members.matching('label', isLabel, 'at most 200 characters, and no control characters')
}

function readEnd(members: BodyMembers<'expiresAt'>, nowMs: number): number | undefined {
  const words = 'a time in the future, such as 2027-01-31T09:30:00Z'
  const msOf = (text: string): number => {
    const ticks = parseWindowBound('from', text)
    return ticks === undefined ? 0 : millisecondsOfTicks(ticks)
  }
  const text = members.matching('expiresAt', (one) => msOf(one) > nowMs, words)
  if (text !== undefined) return msOf(text)
  const given = members.given.get('expiresAt')
  return given === undefined || typeof given === 'string'
    ? undefined
    : members.fault('expiresAt', `expiresAt must be ${words}.`)
}

function readRate(members: BodyMembers<'rate'>): KeyRate | undefined {
  const given = members.given.get('rate')
  if (given === undefined) return undefined
  const { perSecond, burst, ...others } = membersOf(given) ?? {}
  const most = 1_000_000
  const isWhole = (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most
  if (isWhole(perSecond) && isWhole(burst) && Object.keys(others).length === 0) return { perSecond, burst }
  return members.fault(
    'rate',
    `rate must be {"perSecond":…,"burst":…}, each a whole number from 1 to ${most}.`,
  )
}

function readNetworks(members: BodyMembers<'networks'>): readonly string[] | undefined {
  const given = members.given.get('networks')
  if (given === undefined) return undefined
  if (Array.isArray(given) && given.length <= maxNetworks) {
    const texts = given.filter((one): one is string => typeof one === 'string' && isNetwork(one))
    if (texts.length === given.length) return [...new Set(texts)]
  }
  const words = `a list of at most ${maxNetworks} addresses or networks such as 192.0.2.0/24 or 2001:db8::/32`
  return members.fault('networks', `networks must be ${words}.`)
}

function readAdminScopes(members: BodyMembers<'scopes'>): readonly AdminScope[] {
  const given = wordsOf(members.given.get('scopes'), adminScopes)
  if (given !== undefined && given.length > 0) return given
  members.fault('scopes', `scopes must be a list of at least one of ${adminScopes.join(', ')}.`)
  return []
}

function readGrants(members: BodyMembers<'grants'>): readonly Grant[] {
  const given = members.given.get('grants')
  const list: readonly unknown[] = Array.isArray(given) ? given : []
  const faults = members.errors.length
  const grants = list.flatMap((one) => grantOf(one, members) ?? [])
  const isEach = new Set(grants.map(({ tenantId }) => tenantId)).size === list.length
  if (list.length > 0 && isEach) return grants
  if (members.errors.length > faults) return []
  const words = `a list of at least one {"tenantId":…,"scopes":[…]}, each of another tenant and with scopes of ${grantScopes.join(', ')}; ${contactWords}; "branches":[…] limits one to branches`
  members.fault('grants', `grants must be ${words}.`)
  return []
}

function grantOf(value: unknown, members: BodyMembers<'grants'>): Grant | undefined {
  const {
    tenantId: given,
    scopes: words,
    contact: limits,
    branches: named,
    ...others
  } = membersOf(value) ?? {}
  const tenantId = typeof given === 'string' ? parseUuid(given) : undefined
  const scopes: readonly GrantScope[] = wordsOf(words, grantScopes) ?? []
  if (tenantId === undefined || scopes.length === 0 || Object.keys(others).length > 0) return undefined
  const contact = readContactLimits(limits, scopes)
  if (contact === 'fault') return undefined
  if (named === undefined) return { tenantId, scopes, ...(contact && { contact }) }
  const branches = readBranches(named, scopes, members)
  return branches && { tenantId, scopes, branches }
}

function readBranches(
  given: unknown,
  scopes: readonly GrantScope[],
  members: BodyMembers<'grants'>,
): readonly string[] | undefined {
  const unlimited = unlimitedScope(scopes)
  if (unlimited !== undefined) {
    const words = `branches limit ${branchScopes.join(', ')} alone, and this grant also has ${unlimited}`
    return members.fault('grants', `${words}. Make another key for that.`)
  }
  const texts = Array.isArray(given) && given.every((one) => typeof one === 'string') ? given : []
  const branches = grantedBranches(texts)
  if (branches !== undefined) return branches
  const words = `1 to ${maxGrantedBranches} texts of 1 to ${maxBranchLength} characters and one line each, as \`branch_id\` has them in payloads`
  return members.fault('grants', `branches must be a list of ${words}.`)
}

/** Each word once, in the order of `allowed`. */
function wordsOf<Word extends string>(given: unknown, allowed: readonly Word[]): readonly Word[] | undefined {
  if (!Array.isArray(given) || !given.every((one) => allowed.some((word) => word === one))) return undefined
  return allowed.filter((word) => given.includes(word))
}

const contactWords = `contact is {"roles":[…],"fields":[…]} or one of them, beside the scope contact:read, with roles of ${contactRoleNames.join(', ')} and fields of ${contactFields.join(', ')}`

/** `fault`: the value is malformed, or the scopes do not read contacts. */
function readContactLimits(
  given: unknown,
  scopes: readonly GrantScope[],
): ContactLimits | undefined | 'fault' {
  if (given === undefined) return undefined
  const { roles, fields, ...others } = membersOf(given) ?? {}
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
  const words = wordsOf(given, allowed) ?? []
  return words.length === 0 ? 'fault' : words
}
