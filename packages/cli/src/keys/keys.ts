import { rotateKey, scopeWords, usageDaysKept, usageHoursKept } from '@property-events/server'
import type { UsageStore } from '@property-events/server'
import type { Command } from 'commander'
import { addAction, flagNumber, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addExpectConsumer } from '../consumers/silence.ts'
import { addNote } from '../help/help-text.ts'
import { changeSettings, findTenant, storeSettings, withStore } from '../open-store.ts'
import { Refusal } from '../refusal.ts'
import { rateText, readOwnRate } from '../settings/rate-limit.ts'
import { addSettings } from '../settings/read-settings.ts'
import { plainText, tableText } from '../terminal-text.ts'
import {
  durationHelp,
  timestampJson,
  timestampText,
  futureTimeHelp,
  readDuration,
} from '../timestamp-option.ts'
import { addCreate } from './create.ts'
import { keyIdOf, keyJson, readFutureTimestamp, stateOf, unknownKey, readingText } from './key.ts'
import { pepperForNewKey, pepperSettings, readPeppers } from './pepper.ts'

export function addKeys(program: Command, context: CommandContext): void {
  const keys = program
    .command('keys')
    .description(
      'create, list, rotate, revoke and expire API keys, and show their use; works while the service runs',
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
        timestampText(key.lastUsedMs),
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
    .description('replace a key with a new one; the old one keeps working for a while')
    .argument('<key>', 'id of the key, or the key itself')
    .option(
      '--overlap <time>',
      `for how long the old key keeps working: ${durationHelp}; 0 to expire it at once`,
      '24h',
    )
  addSettings(command, [...changeSettings, ...pepperSettings])
  addAction(command, context, async ({ output, settings: reader, flags }, [written = '']) => {
    const given = readPeppers(reader)
    const overlap = flagText(flags, 'overlap') ?? ''
    const overlapMs = overlap === '0' ? 0 : readDuration(overlap)
    if (overlapMs === undefined || overlapMs > longestOverlapMs) {
      reader.fault(`--overlap is "${plainText(overlap)}", but must be 0, or ${durationHelp}, at most 30d.`)
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
        throw new Refusal(`Key ${keyId} was revoked or has expired. Create a new one: keys create.`)
      }
      const { old, record, text } = rotated
      if (output.json) {
        const replaced = { keyId: old.keyId, expires: timestampJson(old.expiresMs) }
        return output.writeJson({ key: text, ...keyJson(record), replaced })
      }
      output.say(
        `Key ${keyId} expires at ${timestampText(old.expiresMs)} UTC. This is its replacement. It is shown only this once:`,
      )
      return output.write(`${text}\n`)
    })
  })
}

const longestOverlapMs = 30 * 86_400_000

function addRevoke(keys: Command, context: CommandContext): void {
  const command = keys
    .command('revoke')
    .description('revoke a key for good, within 2 seconds')
    .argument('<key>', 'id of the key, or the key itself')
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [written = '']) =>
    withStore(reader, flags, async ({ storage, flags: store, actor }) => {
      const keyId = keyIdOf(written, store)
      if ((await storage.keys.revokeKey(keyId, Date.now(), actor)) === 'unknownKey')
        throw unknownKey(keyId, store)
      if (output.json) return output.writeJson({ keyId, revoked: true })
      return output.write(`Revoked key ${keyId}.\n`)
    }),
  )
}

function addExpire(keys: Command, context: CommandContext): void {
  const command = keys
    .command('expire')
    .description('set when a key expires')
    .argument('<key>', 'id of the key, or the key itself')
    .argument('<when>', `${futureTimeHelp}; now, or never`)
  addSettings(command, changeSettings)
  addAction(command, context, ({ output, settings: reader, flags }, [written = '', when = '']) => {
    const expiresMs =
      when === 'never'
        ? undefined
        : when === 'now'
          ? Date.now()
          : readFutureTimestamp(when, 'The time', reader)
    return withStore(reader, flags, async ({ storage, flags: store, actor }) => {
      const keyId = keyIdOf(written, store)
      const { kind } = await storage.keys.changeKey(keyId, { expiresMs: expiresMs ?? null }, actor)
      if (kind !== 'changed') throw kind === 'unknownKey' ? unknownKey(keyId, store) : revokedKey(keyId)
      if (output.json) return output.writeJson({ keyId, expires: timestampJson(expiresMs) })
      return output.write(
        expiresMs === undefined
          ? `Key ${keyId} never expires.\n`
          : `Key ${keyId} expires at ${timestampText(expiresMs)} UTC.\n`,
      )
    })
  })
}

function addRate(keys: Command, context: CommandContext): void {
  const command = keys
    .command('rate')
    .description('set the rate of one key, within 2 seconds')
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
        const { kind } = await storage.keys.changeKey(keyId, { rate: rate ?? null }, actor)
        if (kind !== 'changed') throw kind === 'unknownKey' ? unknownKey(keyId, store) : revokedKey(keyId)
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

function revokedKey(keyId: string): Refusal {
  return new Refusal(`Key ${keyId} was revoked, and a revoked key cannot be changed.`)
}

interface Count {
  readonly atMs: number
  readonly operation: string
  readonly status: number
  readonly requests: number
  readonly bytes: number
}

function addUsage(keys: Command, context: CommandContext): void {
  const command = keys
    .command('usage')
    .description('show how many requests a key made, of which kind, and how they were answered')
    .argument('<key>', 'id of the key, or the key itself')
    .option('--days <number>', `day by day, for this many days up to today: 1 to ${usageDaysKept}`)
  addNote(
    command,
    `Hour by hour for the last ${usageHoursKept} hours, unless --days is given; in UTC. Requests that were refused are counted as ` +
      'well. A request is counted within 35 seconds of its answer.',
  )
  addSettings(command, storeSettings)
  addAction(command, context, (invocation, [written = '']) => {
    const { output, settings: reader, flags } = invocation
    const days = flagNumber(invocation, '--days', { from: 1, to: usageDaysKept })
    return withStore(reader, flags, async ({ storage, flags: store }) => {
      const keyId = keyIdOf(written, store)
      if ((await storage.keys.findKey(keyId)) === undefined) throw unknownKey(keyId, store)
      const counts = await countsOf(storage.usage, keyId, days)
      if (output.json) {
        const by = days === undefined ? 'hour' : 'day'
        const items = counts.map(({ atMs, ...count }) => ({ at: new Date(atMs).toISOString(), ...count }))
        return output.writeJson({ keyId, by, items })
      }
      if (counts.length === 0) return output.write('This key made no request in that time.\n')
      const length = days === undefined ? 'YYYY-MM-DDTHH:mm'.length : 'YYYY-MM-DD'.length
      const rows = counts.map(({ atMs, operation, status, requests, bytes }) => [
        new Date(atMs).toISOString().slice(0, length).replace('T', ' '),
        operation,
        String(status),
        requests.toLocaleString('en-GB'),
        bytes.toLocaleString('en-GB'),
      ])
      return output.write(
        tableText(
          ['from (UTC)', 'operation', 'status', 'requests', 'bytes'],
          rows,
          'No requests in that time.',
        ),
      )
    })
  })
}

async function countsOf(
  usage: UsageStore,
  keyId: string,
  days: number | undefined,
): Promise<readonly Count[]> {
  const nowHour = Math.floor(Date.now() / 3_600_000)
  const shown = (atMs: number, { operation, status, requests, bytes }: Omit<Count, 'atMs'>): Count => {
    return { atMs, operation, status, requests, bytes }
  }
  if (days === undefined) {
    const hours = await usage.hours(keyId, nowHour - usageHoursKept, nowHour)
    return hours.map((count) => shown(count.hour * 3_600_000, count))
  }
  const today = Math.floor(nowHour / 24)
  const found = await usage.days(keyId, today - days + 1, today)
  return found.map((count) => shown(count.day * 86_400_000, count))
}
