import type { Command } from 'commander'
import { parseKeyText, scopes } from '@property-events/protocol'
import type { Scope } from '@property-events/protocol'
import { issueKey } from '@property-events/server'
import type { KeyRecord } from '@property-events/server'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { didYouMean } from '../did-you-mean.ts'
import { pepperForNewKey, pepperSettings, readPeppers } from '../key-pepper.ts'
import {
  addReadingOptions,
  readReading,
  readingJson,
  readingText,
  refuseUnknownTypes,
} from '../key-reading.ts'
import { momentJson, momentText, momentWords, readMoment } from '../moment.ts'
import { changeSettings, findTenant, storeSettings, withStore } from '../open-store.ts'
import { commandLine } from '../program-name.ts'
import { rateText, readOwnRate } from '../rate-limit.ts'
import { addSettings } from '../read-settings.ts'
import { grantsOf } from '../sandbox-tenant.ts'
import type { SettingReader } from '../read-settings.ts'
import { Refusal } from '../refusal.ts'
import { plainText, tableText } from '../terminal-text.ts'

export function addKeys(program: Command, context: CommandContext): void {
  const keys = program
    .command('keys')
    .description('make, list, revoke and expire API keys; works while the service runs')
  addCreate(keys, context)
  addList(keys, context)
  addRevoke(keys, context)
  addExpire(keys, context)
  addRate(keys, context)
}

function addCreate(keys: Command, context: CommandContext): void {
  const command = keys
    .command('create')
    .description('make a key; it is shown once')
    .option('--tenant <tenant>', 'id or name of the tenant it is for; several times for several', gatherWhole)
    .option('--scope <scopes>', `${scopes.join(', ')}; read and publish mean both of a kind`, gather)
    .option('--test', 'for the sandbox of a service with test keys, in place of --tenant and --scope')
    .option('--label <text>', 'what the key is for')
    .option('--expires <when>', momentWords)
    .option('--rate <number>', 'requests a second, in place of the rate of all keys (serve --rate-limit)')
    .option('--burst <number>', 'requests at once; ten times the rate if left out')
  addReadingOptions(command)
  addSettings(command, [...changeSettings, ...pepperSettings])
  addAction(command, context, async ({ output, settings: reader, flags }) => {
    const given = readPeppers(reader)
    const tenants = wordsOf(flags['tenant'])
    const wanted = readScopes(flags['scope'], reader)
    const isTest = flags['test'] === true
    if (isTest && tenants.length + wanted.length > 0)
      reader.fault('A test key reads the sandbox and nothing else: leave out --tenant and --scope.')
    if (!isTest && (tenants.length === 0 || wanted.length === 0)) {
      reader.fault(
        'Say what the key is for: --tenant and --scope, such as --tenant "Hill & Co" --scope read.',
      )
    }
    const label = flagText(flags, 'label') ?? ''
    if (label.length > 200 || plainText(label) !== label) {
      reader.fault('--label has at most 200 characters and no control characters.')
    }
    const rate = readOwnRate(flagText(flags, 'rate'), flagText(flags, 'burst'), reader)
    const reading = readReading(flags, wanted, reader)
    const expires = flagText(flags, 'expires')
    const expiresMs = expires === undefined ? undefined : readFutureMoment(expires, '--expires', reader)
    await withStore(reader, flags, async (store) => {
      const { storage } = store
      refuseUnknownTypes(storage.settings.catalogue, reading)
      const grants = await grantsOf(store, { isTest, tenants, scopes: wanted })
      const pepper = await pepperForNewKey(store, given)
      const issued = await issueKey(storage.keys, pepper, {
        label,
        operator: false,
        grants,
        expiresMs,
        nowMs: Date.now(),
        actor: store.actor,
        rate,
        reading,
      })
      if (issued.kind === 'unknownTenant') throw new Refusal('The tenant is gone. Run the command again.')
      if (output.json) return output.writeJson({ key: issued.text, ...keyJson(issued.record) })
      if (grants.length > 1)
        output.say(
          'It covers several tenants: its requests name one in the header x-tenant, commands with --key-tenant.',
        )
      output.say('This is the key. It is shown once and cannot be read back:')
      return output.write(`${issued.text}\n`)
    })
  })
}

function addList(keys: Command, context: CommandContext): void {
  const command = keys
    .command('list')
    .description('list keys, never their text')
    .option('--tenant <tenant>', 'only those of one tenant, by id or name')
  addSettings(command, storeSettings)
  addAction(command, context, ({ output, settings: reader, flags }) =>
    withStore(reader, flags, async (store) => {
      const { storage } = store
      const name = flagText(flags, 'tenant')
      const tenant = name === undefined ? undefined : await findTenant(store, name)
      const tenantNames = new Map((await storage.keys.tenants()).map((one) => [one.tenantId, one.name]))
      const all = (await storage.keys.keys()).filter(
        (key) => tenant === undefined || key.grants.some((grant) => grant.tenantId === tenant.tenantId),
      )
      if (output.json) return output.writeJson(all.map(keyJson))
      const nowMs = Date.now()
      const rows = all.map((key) => [
        key.keyId,
        key.label,
        key.operator
          ? '(operator)'
          : key.grants.map((grant) => tenantNames.get(grant.tenantId) ?? grant.tenantId).join(', '),
        [...new Set(key.grants.flatMap((grant) => grant.scopes))].join(' '),
        stateOf(key, nowMs),
        key.rate === undefined ? '' : rateText(key.rate),
        readingText(key.reading),
        momentText(key.lastUsedMs),
      ])
      return output.write(
        tableText(['id', 'label', 'tenant', 'scopes', 'state', 'rate', 'reads', 'last used (UTC)'], rows),
      )
    }),
  )
}

function addRevoke(keys: Command, context: CommandContext): void {
  const command = keys
    .command('revoke')
    .description('refuse a key for ever, within 2 seconds')
    .argument('<key>', 'id of the key, or the key itself')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [written = '']) =>
    withStore(reader, flags, async ({ storage, flags: store, actor }) => {
      const keyId = keyIdOf(written, store)
      if ((await storage.keys.revokeKey(keyId, Date.now(), actor)) === 'unknownKey')
        throw unknownKey(keyId, store)
      if (output.json) return output.writeJson({ keyId, revoked: true })
      return output.write(`Key ${keyId} is revoked.\n`)
    }),
  )
}

function addExpire(keys: Command, context: CommandContext): void {
  const command = keys
    .command('expire')
    .description('change when a key ends')
    .argument('<key>', 'id of the key, or the key itself')
    .argument('<when>', `${momentWords}; now, or never`)
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [written = '', when = '']) => {
    const expiresMs =
      when === 'never' ? undefined : when === 'now' ? Date.now() : readFutureMoment(when, 'The time', reader)
    return withStore(reader, flags, async ({ storage, flags: store, actor }) => {
      const keyId = keyIdOf(written, store)
      if ((await storage.keys.setKeyExpiry(keyId, expiresMs, actor)) === 'unknownKey')
        throw unknownKey(keyId, store)
      if (output.json) return output.writeJson({ keyId, expires: momentJson(expiresMs) })
      return output.write(
        expiresMs === undefined
          ? `Key ${keyId} never ends.\n`
          : `Key ${keyId} ends at ${momentText(expiresMs)} UTC.\n`,
      )
    })
  })
}

function addRate(keys: Command, context: CommandContext): void {
  const command = keys
    .command('rate')
    .description('give a key a rate of its own, within 2 seconds')
    .argument('<key>', 'id of the key, or the key itself')
    .argument('<rate>', 'requests a second; or default, for the rate of all keys (serve --rate-limit)')
    .argument('[burst]', 'requests at once; ten times the rate if left out')
  addSettings(command, changeSettings)
  addAction(
    command,
    context,
    ({ output, settings: reader, flags }, [written = '', perSecond = '', burst]) => {
      if (perSecond === 'default' && burst !== undefined) {
        reader.fault('The default rate has a burst of its own: leave the burst out.')
      }
      const rate = perSecond === 'default' ? undefined : readOwnRate(perSecond, burst, reader)
      return withStore(reader, flags, async ({ storage, actor, flags: store }) => {
        const keyId = keyIdOf(written, store)
        if ((await storage.keys.setKeyRate(keyId, rate, actor)) === 'unknownKey')
          throw unknownKey(keyId, store)
        if (output.json) return output.writeJson({ keyId, rate: rate ?? null })
        return output.write(
          rate === undefined
            ? `Key ${keyId} has the rate of all keys.\n`
            : `Key ${keyId} may ask ${rate.perSecond} times a second, and ${rate.burst} times at once.\n`,
        )
      })
    },
  )
}

function gather(written: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...written.split(/[\s,]+/).filter((part) => part !== '')]
}

/** Names of tenants contain spaces and commas. */
function gatherWhole(written: string, before: readonly string[] = []): readonly string[] {
  return [...before, written]
}

function wordsOf(flag: unknown): readonly string[] {
  return Array.isArray(flag) ? flag.map(String) : []
}

function readScopes(written: unknown, reader: SettingReader): readonly Scope[] {
  const wanted = new Set<Scope>()
  const kinds = ['read', 'publish']
  for (const word of wordsOf(written)) {
    const matching = scopes.filter(
      (scope) => scope === word || (kinds.includes(word) && scope.endsWith(`:${word}`)),
    )
    if (matching.length === 0) {
      const meant = didYouMean(word, [...scopes, ...kinds])
      reader.fault(
        `"${plainText(word)}" is not a scope; there are ${[...scopes, ...kinds].join(', ')}.${meant}`,
      )
    }
    for (const scope of matching) wanted.add(scope)
  }
  return scopes.filter((scope) => wanted.has(scope))
}

function readFutureMoment(written: string, what: string, reader: SettingReader): number | undefined {
  const nowMs = Date.now()
  const ms = readMoment(written, nowMs)
  if (ms === undefined) reader.fault(`${what} is "${plainText(written)}", but must be ${momentWords}.`)
  else if (ms <= nowMs) reader.fault(`${what} is "${plainText(written)}", which has passed.`)
  return ms
}

/** Only a whole key is longer than an id, and its secret must not be shown. */
const maxIdLength = 12

/** People paste whole keys, and the id in them is enough. Throws a `Refusal` for a text that can be neither. */
function keyIdOf(written: string, store: string): string {
  const keyId = parseKeyText(written)?.keyId
  if (keyId !== undefined) return keyId
  if (written.length <= maxIdLength) return written
  const likely = /^pev_(?:test_)?([0-9A-Za-z]{12})_/.exec(written)?.[1]
  throw new Refusal(
    likely === undefined
      ? `This is neither a key nor the id of one (${written.length} characters, not shown). \`${commandLine('keys list', store)}\` lists the ids.`
      : `The key pev_${likely}_… is mistyped. Paste it again, or give its id alone: ${likely}`,
  )
}

function unknownKey(keyId: string, store: string): Refusal {
  return new Refusal(
    `There is no key "${plainText(keyId)}". \`${commandLine('keys list', store)}\` lists the keys.`,
  )
}

function stateOf(key: KeyRecord, nowMs: number): string {
  if (key.revokedMs !== undefined) return `revoked ${momentText(key.revokedMs)}`
  if (key.expiresMs === undefined) return 'active'
  return `${key.expiresMs <= nowMs ? 'expired' : 'active until'} ${momentText(key.expiresMs)}`
}

function keyJson({ createdMs, expiresMs, revokedMs, lastUsedMs, ...key }: KeyRecord) {
  const { keyId, label, operator, grants, rate, reading } = key
  return {
    keyId,
    label,
    operator,
    grants,
    created: momentJson(createdMs),
    expires: momentJson(expiresMs),
    revoked: momentJson(revokedMs),
    lastUsed: momentJson(lastUsedMs),
    rate: rate ?? null,
    ...readingJson(reading),
  }
}
