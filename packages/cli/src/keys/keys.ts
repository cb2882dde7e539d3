import type { Command } from 'commander'
import { adminScopes, grantScopes } from '@property-events/protocol'
import { issueKey, rotateKey, scopeWords } from '@property-events/server'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { pepperForNewKey, pepperSettings, readPeppers } from './key-pepper.ts'
import { addContactOptions, readContactLimits } from './key-contact.ts'
import { addExpectConsumer } from '../consumers/silence.ts'
import { addUsage } from './usage.ts'
import {
  addReadingOptions,
  proposalFor,
  readReading,
  readingText,
  refuseUnknownTypes,
} from './key-reading.ts'
import {
  gather,
  gatherWhole,
  keyIdOf,
  keyJson,
  readFutureMoment,
  readNetworks,
  stateOf,
  unknownKey,
} from './key-options.ts'
import { lengthWords, momentJson, momentText, momentWords, readLength } from '../timestamp-option.ts'
import { changeSettings, findTenant, storeSettings, withStore } from '../open-store.ts'
import { rateText, readOwnRate } from '../settings/rate-limit.ts'
import { addSettings } from '../settings/read-settings.ts'
import { readKind } from './key-kind.ts'
import { grantsOf } from './key-grants.ts'
import { Refusal } from '../refusal.ts'
import { plainText, tableText } from '../terminal-text.ts'

export function addKeys(program: Command, context: CommandContext): void {
  const keys = program
    .command('keys')
    .description(
      'make, list, rotate, revoke and expire API keys, and show their use; works while the service runs',
    )
  addCreate(keys, context)
  addList(keys, context)
  addRotate(keys, context)
  addRevoke(keys, context)
  addExpire(keys, context)
  addRate(keys, context)
  addUsage(keys, context)
  addExpectConsumer(keys, context)
}

function addCreate(keys: Command, context: CommandContext): void {
  const command = keys
    .command('create')
    .description('make a key; it is shown once')
    .option('--tenant <tenant>', 'id or name of the tenant it is for; repeat for several', gatherWhole)
    .option('--operator', 'make an operator key, which manages all tenants through /v1/admin')
    .option(
      '--scope <scopes>',
      `${grantScopes.join(', ')}; read and publish mean both feeds; with --operator ${adminScopes.join(', ')}`,
      gather,
    )
    .option(
      '--branch <branch>',
      'only properties of this branch, by their branch_id; repeat for several',
      gatherWhole,
    )
    .option('--test', 'for the sandbox of a service with test keys; replaces --tenant and --scope')
    .option(
      '--network <network>',
      'the only address or network it may be used from; repeat for several',
      gather,
    )
    .option('--label <text>', 'what the key is for')
    .option('--expires <when>', momentWords)
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
    const expiresMs = expires === undefined ? undefined : readFutureMoment(expires, '--expires', reader)
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
      if (issued.kind === 'unknownTenant') throw new Refusal('The tenant is gone. Run the command again.')
      if (output.json) return output.writeJson({ key: issued.text, ...keyJson(issued.record) })
      if (grants.length > 1)
        output.say('The key covers several tenants: name one in the header x-tenant, or with --key-tenant.')
      const proposal = scopes.includes('property:read') ? proposalFor(label, reading) : undefined
      if (proposal !== undefined) output.say(proposal)
      output.say('This is the key. It is shown once and cannot be read back:')
      return output.write(`${issued.text}\n`)
    })
  })
}

function addList(keys: Command, context: CommandContext): void {
  const command = keys
    .command('list')
    .description('list keys, without their text')
    .option('--tenant <tenant>', 'only keys of one tenant, by id or name')
  addSettings(command, storeSettings)
  addAction(command, context, ({ output, settings: reader, flags }) =>
    withStore(reader, flags, async (store) => {
      const { storage } = store
      const name = flagText(flags, 'tenant')
      const tenant = name === undefined ? undefined : await findTenant(store, name)
      const tenantNames = new Map((await storage.tenants.tenants()).map((one) => [one.tenantId, one.name]))
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
        [...(key.adminScopes ?? []), ...new Set(key.grants.flatMap(scopeWords))].join(' '),
        key.grants.flatMap(({ branches = [] }) => branches.map((branch) => plainText(branch))).join(', '),
        stateOf(key, nowMs),
        key.rate === undefined ? '' : rateText(key.rate),
        readingText(key.reading),
        momentText(key.lastUsedMs),
      ])
      return output.write(
        tableText(
          ['id', 'label', 'tenant', 'scopes', 'branches', 'state', 'rate', 'reads', 'last used (UTC)'],
          rows,
        ),
      )
    }),
  )
}

function addRotate(keys: Command, context: CommandContext): void {
  const command = keys
    .command('rotate')
    .description('make a key to replace another one, which keeps working for a while')
    .argument('<key>', 'id of the key, or the key itself')
    .option(
      '--overlap <time>',
      `for how long the old key keeps working: ${lengthWords}; 0 to end it at once`,
      '24h',
    )
  addSettings(command, [...changeSettings, ...pepperSettings])
  addAction(command, context, async ({ output, settings: reader, flags }, [written = '']) => {
    const given = readPeppers(reader)
    const overlap = flagText(flags, 'overlap') ?? ''
    const overlapMs = overlap === '0' ? 0 : readLength(overlap)
    if (overlapMs === undefined || overlapMs > longestOverlapMs) {
      reader.fault(`--overlap is "${plainText(overlap)}", but must be 0, or ${lengthWords}, at most 30d.`)
    }
    await withStore(reader, flags, async (store) => {
      const keyId = keyIdOf(written, store.flags)
      const pepper = await pepperForNewKey(store, given)
      const rotated = await rotateKey(store.storage.keys, pepper, keyId, {
        nowMs: Date.now(),
        overlapMs: overlapMs ?? 0,
        actor: store.actor,
      })
      if (rotated.kind === 'unknownKey') throw unknownKey(keyId, store.flags)
      if (rotated.kind !== 'rotated') {
        throw new Refusal(`Key ${keyId} was revoked or has expired. Make a new one: keys create.`)
      }
      const { old, record, text } = rotated
      if (output.json) {
        const replaced = { keyId: old.keyId, expires: momentJson(old.expiresMs) }
        return output.writeJson({ key: text, ...keyJson(record), replaced })
      }
      output.say(
        `Key ${keyId} ends at ${momentText(old.expiresMs)} UTC. This is the key that replaces it. It is shown once:`,
      )
      return output.write(`${text}\n`)
    })
  })
}

const longestOverlapMs = 30 * 86_400_000

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
    .description('give a key its own rate, within 2 seconds')
    .argument('<key>', 'id of the key, or the key itself')
    .argument('<rate>', 'requests a second; or default, for the rate of serve --rate-limit')
    .argument('[burst]', 'requests at once; ten times the rate if left out')
  addSettings(command, changeSettings)
  addAction(
    command,
    context,
    ({ output, settings: reader, flags }, [written = '', perSecond = '', burst]) => {
      if (perSecond === 'default' && burst !== undefined) {
        reader.fault('The default rate has its own burst: leave the burst out.')
      }
      const rate = perSecond === 'default' ? undefined : readOwnRate(perSecond, burst, reader)
      return withStore(reader, flags, async ({ storage, actor, flags: store }) => {
        const keyId = keyIdOf(written, store)
        if ((await storage.keys.setKeyRate(keyId, rate, actor)) === 'unknownKey')
          throw unknownKey(keyId, store)
        if (output.json) return output.writeJson({ keyId, rate: rate ?? null })
        return output.write(
          rate === undefined
            ? `Key ${keyId} has the default rate.\n`
            : `Key ${keyId} may make ${rate.perSecond} requests a second, and ${rate.burst} at once.\n`,
        )
      })
    },
  )
}
