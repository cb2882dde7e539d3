/** `keys create`: who a new key is for, what it may do, and what it reads (D10, D11). */
import {
  adminScopes,
  grantScopes,
  maxBranchLength,
  maxGrantedBranches,
  sandboxTenantId,
} from '@property-events/protocol'
import type { AdminScope, ContactLimits, GrantScope } from '@property-events/protocol'
import { branchScopes, grantedBranches, isNetwork, issueKey, unlimitedScope } from '@property-events/server'
import type { Grant } from '@property-events/server'
import type { Command } from 'commander'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { changeSettings, findTenant, withStore } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import { Refusal } from '../refusal.ts'
import { readOwnRate } from '../settings/rate-limit.ts'
import { addSettings } from '../settings/read-settings.ts'
import type { SettingReader } from '../settings/setting.ts'
import { plainText } from '../terminal-text.ts'
import { futureTimeHelp } from '../timestamp-option.ts'
import { collectWords, collectValues, keyJson, readFutureTimestamp, readWords, wordsOf } from './key.ts'
import { pepperForNewKey, pepperSettings, readPeppers } from './pepper.ts'
import {
  addContactOptions,
  addReadingOptions,
  proposalFor,
  readContactLimits,
  readReading,
  refuseUnknownTypes,
} from './reading.ts'

export function addCreate(keys: Command, context: CommandContext): void {
  const command = keys
    .command('create')
    .description('create a key; it is shown once')
    .option('--tenant <tenant>', 'id or name of the tenant it is for; repeat for several', collectValues)
    .option('--operator', 'create an operator key, which manages all tenants through /v1/admin')
    .option(
      '--scope <scopes>',
      `${grantScopes.join(', ')}; read and publish mean both feeds; with --operator ${adminScopes.join(', ')}`,
      collectWords,
    )
    .option(
      '--branch <branch>',
      'only properties of this branch, by their branch_id; repeat for several',
      collectValues,
    )
    .option('--test', 'for the sandbox of a service with test keys; replaces --tenant and --scope')
    .option('--network <network>', 'the only address or network it works from; repeatable', collectWords)
    .option('--label <text>', 'what the key is for')
    .option('--expires <when>', futureTimeHelp)
    .option('--rate <number>', 'requests a second, instead of the default rate (serve --rate-limit)')
    .option('--burst <number>', 'requests at once; ten times the rate if left out')
  addContactOptions(command)
  addReadingOptions(command)
  addSettings(command, [...changeSettings, ...pepperSettings])
  addAction(command, context, async ({ output, settings: reader, flags }) => {
    const given = readPeppers(reader)
    const { isTest, operator, tenants, scopes, adminScopes: ofOperator, branches } = readKind(flags, reader)
    const networks = readNetworks(flags['network'], reader)
    const label = flagText(flags, 'label') ?? ''
    if (label.length > 200 || plainText(label) !== label) {
      reader.fault('--label has at most 200 characters and no control characters.')
    }
    const rate = readOwnRate(flagText(flags, 'rate'), flagText(flags, 'burst'), reader)
    const reading = readReading(flags, scopes, reader)
    const contact = readContactLimits(flags, scopes, reader)
    const expires = flagText(flags, 'expires')
    const expiresMs = expires === undefined ? undefined : readFutureTimestamp(expires, '--expires', reader)
    await withStore(reader, flags, async (store) => {
      const { storage } = store
      refuseUnknownTypes(storage.settings.catalogue, reading)
      const grants = await grantsOf(store, { isTest, tenants, scopes, contact, branches })
      const pepper = await pepperForNewKey(store, given)
      const issued = await issueKey(storage.keys, pepper, {
        label,
        operator,
        adminScopes: ofOperator,
        networks,
        grants,
        expiresMs,
        nowMs: Date.now(),
        actor: store.actor,
        rate,
        reading,
      })
      if (issued.kind === 'unknownTenant')
        throw new Refusal('The tenant no longer exists. Run the command again.')
      if (output.json) return output.writeJson({ key: issued.text, ...keyJson(issued.record) })
      if (grants.length > 1)
        output.say('The key covers several tenants: name one in the header x-tenant, or with --key-tenant.')
      const proposal = scopes.includes('property:read') ? proposalFor(label, reading) : undefined
      if (proposal !== undefined) output.say(proposal)
      output.say('This is the key. It is shown only this once:')
      return output.write(`${issued.text}\n`)
    })
  })
}

interface KeyKind {
  readonly isTest: boolean
  readonly operator: boolean
  readonly tenants: readonly string[]
  /** Even if a wrong one, which has been refused by itself. */
  readonly wroteScope: boolean
  readonly scopes: readonly GrantScope[]
  readonly adminScopes: readonly AdminScope[]
  /** `undefined`: all. */
  readonly branches: readonly string[] | undefined
}

function readKind(flags: Readonly<Record<string, unknown>>, reader: SettingReader): KeyKind {
  const operator = flags['operator'] === true
  const scopes = operator ? [] : readScopes(flags['scope'], reader)
  const kind = {
    isTest: flags['test'] === true,
    operator,
    tenants: wordsOf(flags['tenant']),
    wroteScope: wordsOf(flags['scope']).length > 0,
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
    if (tenants.length > 0 || (scopes.length === 0 && !kind.wroteScope))
      reader.fault('An operator key has scopes and no tenant, such as --operator --scope admin:inspect.')
  } else if (tenants.length === 0 || (scopes.length === 0 && !kind.wroteScope)) {
    reader.fault(
      'Specify what the key is for: --tenant and --scope, such as --tenant "Hill & Co" --scope read.',
    )
  }
  if (branches !== undefined && tenants.length !== 1 && !isTest)
    reader.fault('--branch goes with one --tenant: branches of different agencies have nothing in common.')
}

interface WantedGrants {
  /** The key is for the sandbox. */
  readonly isTest: boolean
  /** Ids or names. */
  readonly tenants: readonly string[]
  readonly scopes: readonly GrantScope[]
  /** Which contact data is read; `undefined`: all of it. */
  readonly contact: ContactLimits | undefined
  /** Left out: all. */
  readonly branches?: readonly string[] | undefined
}

/** What a new key may do. Throws a `Refusal` for a tenant that does not exist, or that is the sandbox. */
async function grantsOf(
  store: OpenedStore,
  { isTest, tenants, scopes, contact, branches }: WantedGrants,
): Promise<readonly Grant[]> {
  if (isTest) {
    const { sandboxTenant } = await import('@property-events/demo/sandbox')
    return [{ tenantId: (await sandboxTenant(store.storage)).tenantId, scopes: ['property:read'] }]
  }
  const tenantIds = new Set<string>()
  for (const name of tenants) tenantIds.add((await findTenant(store, name)).tenantId)
  if (tenantIds.has(sandboxTenantId))
    throw new Refusal(
      'The sandbox is opened by test keys alone: use --test in place of --tenant and --scope.',
    )
  return [...tenantIds].map((tenantId) => ({
    tenantId,
    scopes,
    ...(contact && { contact }),
    ...(branches && { branches }),
  }))
}

/** For a tenant's key; `read` and `publish` mean both of a kind. */
function readScopes(written: unknown, reader: SettingReader): readonly GrantScope[] {
  return readWords(wordsOf(written), grantScopes, reader, { kinds: ['read', 'publish'], wrong: wrongScope })
}

/** For an operator key. */
function readAdminScopes(written: unknown, reader: SettingReader): readonly AdminScope[] {
  return readWords(wordsOf(written), adminScopes, reader, { wrong: wrongScope })
}

const wrongScope = (word: string): string => `"${word}" is not a scope; the scopes are`

function readNetworks(written: unknown, reader: SettingReader): readonly string[] {
  const networks = wordsOf(written)
  const wrong = networks.find((one) => !isNetwork(one))
  if (wrong !== undefined) {
    reader.fault(
      `--network is "${plainText(wrong)}", but must be an address or a network such as 192.0.2.0/24.`,
    )
  }
  return networks
}

/** `undefined`: the key is for all branches. */
function readBranches(
  written: unknown,
  scopes: readonly GrantScope[],
  reader: SettingReader,
): readonly string[] | undefined {
  const words = wordsOf(written)
  if (words.length === 0) return undefined
  const branches = grantedBranches(words)
  if (branches === undefined) {
    reader.fault(
      `--branch must be a \`branch_id\` as it is published, of 1 to ${maxBranchLength} characters on one line, and may be given at most ${maxGrantedBranches} times.`,
    )
  }
  const unlimited = unlimitedScope(scopes)
  if (unlimited !== undefined) {
    reader.fault(`--branch limits ${branchScopes.join(', ')} alone. Create another key for ${unlimited}.`)
  }
  return branches
}
