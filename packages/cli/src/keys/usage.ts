/** `keys usage`: how often a key requested what, and the answers it got. */
import type { Command } from 'commander'
import { usageDaysKept, usageHoursKept } from '@property-events/server'
import type { UsageStore } from '@property-events/server'
import { addAction, flagNumber } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { keyIdOf, unknownKey } from './key-options.ts'
import { storeSettings, withStore } from '../open-store.ts'
import { addSettings } from '../settings/read-settings.ts'
import { tableText } from '../terminal-text.ts'

interface Count {
  readonly atMs: number
  readonly operation: string
  readonly status: number
  readonly requests: number
  readonly bytes: number
}

export function addUsage(keys: Command, context: CommandContext): void {
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
      return output.write(tableText(['from (UTC)', 'operation', 'status', 'requests', 'bytes'], rows))
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
