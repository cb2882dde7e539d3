/** Who a new key is for, and what it may do: for tenants, for an operator or for the sandbox. */
import type { AdminScope, GrantScope } from '@property-events/protocol'
import { readAdminScopes, readBranches, readScopes, wordsOf } from './key-options.ts'
import type { SettingReader } from '../settings/read-settings.ts'

export interface KeyKind {
  readonly isTest: boolean
  readonly operator: boolean
  readonly tenants: readonly string[]
  readonly scopes: readonly GrantScope[]
  readonly adminScopes: readonly AdminScope[]
  /** `undefined`: all. */
  readonly branches: readonly string[] | undefined
}

export function readKind(flags: Readonly<Record<string, unknown>>, reader: SettingReader): KeyKind {
  const operator = flags['operator'] === true
  const scopes = operator ? [] : readScopes(flags['scope'], reader)
  const kind = {
    isTest: flags['test'] === true,
    operator,
    tenants: wordsOf(flags['tenant']),
    scopes,
    adminScopes: operator ? readAdminScopes(flags['scope'], reader) : [],
    branches: readBranches(flags['branch'], scopes, reader),
  }
  refuseMixedKinds(reader, kind)
  return kind
}

function refuseMixedKinds(reader: SettingReader, kind: KeyKind): void {
  const { isTest, operator, tenants, branches } = kind
  const scopes = [...kind.scopes, ...kind.adminScopes]
  if (isTest) {
    if (operator || tenants.length + scopes.length > 0 || branches !== undefined)
      reader.fault('A test key reads the sandbox and nothing else: leave out --tenant and --scope.')
  } else if (operator) {
    if (tenants.length > 0 || scopes.length === 0)
      reader.fault('An operator key has scopes and no tenant, such as --operator --scope admin:inspect.')
  } else if (tenants.length === 0 || scopes.length === 0) {
    reader.fault('Say what the key is for: --tenant and --scope, such as --tenant "Hill & Co" --scope read.')
  }
  if (branches !== undefined && tenants.length !== 1 && !isTest)
    reader.fault('--branch goes with one --tenant: branches of different agencies have nothing in common.')
}
