/** `publications`: what was published for a tenant, minute by minute, and what was refused. */
import type { Command } from 'commander'
import { publicationDaysKept } from '@property-events/server'
import type { KeptMinute, PublishedMinuteName } from '@property-events/server'
import { addAction, flagNumber, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { keyIdOf } from '../keys/key.ts'
import { timestampText, pastTimeHelp, readPastTimestamp } from '../timestamp-option.ts'
import { findTenant, storeSettings, withStore } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import { addSettings } from '../settings/read-settings.ts'
import { plainText, tableText } from '../terminal-text.ts'

const minuteMs = 60_000
const perQuery = 200

export function addPublications(program: Command, context: CommandContext): void {
  const command = program
    .command('publications')
    .description('show what was published for a tenant, and what was refused')
    .requiredOption('--tenant <tenant>', 'id or name of the tenant')
    .option('--of <key>', 'only with this key: its id, or the key itself')
    .option('--from <time>', pastTimeHelp)
    .option('--refused', 'only minutes in which something was refused')
    .option('--limit <number>', 'show at most this many minutes', '50')
  addNote(
    command,
    `By key and minute, the newest first, for ${publicationDaysKept} days. Warnings are kept as codes and examples of where they arose, refusals ` +
      'as the code, the places of the faults and the id of the request; values are not kept. Publications are shown within 35 seconds.',
  )
  addSettings(command, storeSettings)
  addAction(command, context, (invocation) => {
    const { output, settings: reader, flags } = invocation
    const limit = flagNumber(invocation, '--limit', { from: 1, to: 100_000 }) ?? 1
    const from = flagText(flags, 'from')
    const fromMs = from === undefined ? 0 : readPastTimestamp('from', from, Date.now())
    if (fromMs === undefined) {
      reader.fault(`--from is "${plainText(from ?? '')}", but must be ${pastTimeHelp}.`)
    }
    return withStore(reader, flags, async (store) => {
      const asked = { fromMs: fromMs ?? 0, limit, isRefused: flags['refused'] === true }
      const minutes = await readMinutes(store, flags, asked)
      if (output.json) return output.writeJson(minutes.map(minuteJson))
      if (minutes.length === 0) return output.write('Nothing was published or refused in that time.\n')
      return output.write(
        `${tableText(heads, minutes.map(cellsOf))}${minutes.map((one) => `${warningText(one)}${refusalText(one)}`).join('')}`,
      )
    })
  })
}

interface MinutesQuery {
  readonly fromMs: number
  readonly limit: number
  readonly isRefused: boolean
}

async function readMinutes(
  store: OpenedStore,
  flags: Invocation['flags'],
  { fromMs, limit, isRefused }: MinutesQuery,
): Promise<readonly KeptMinute[]> {
  const { tenantId } = await findTenant(store, flagText(flags, 'tenant') ?? '')
  const written = flagText(flags, 'of')
  const keyId = written === undefined ? undefined : keyIdOf(written, store.flags)
  const toMinute = Math.floor(Date.now() / minuteMs)
  const query = { tenantId, keyId, fromMinute: Math.floor(fromMs / minuteMs), toMinute, limit: perQuery }
  const found: KeptMinute[] = []
  for (let before: PublishedMinuteName | undefined; found.length < limit;) {
    const minutes = await store.storage.publications.list({ ...query, before })
    found.push(...minutes.filter(({ refused }) => !isRefused || refused > 0))
    before = minutes.at(-1)
    if (minutes.length < perQuery) break
  }
  return found.slice(0, limit)
}

const heads = [
  'minute (UTC)',
  'feed',
  'key',
  'requests',
  'stored',
  'repeated',
  'unchanged',
  'numbers',
  'refused',
  'warnings',
]

function cellsOf(minute: KeptMinute): readonly string[] {
  const { key, keyId, requests, stored, repeated, unchanged, numbers, refused, warnings } = minute
  const [first, last] = numbers ?? []
  const number = (count: number): string => (count === 0 ? '' : count.toLocaleString('en-GB'))
  return [
    minuteText(minute.minute),
    key.feed,
    keyId,
    number(requests),
    number(stored),
    number(repeated),
    number(unchanged),
    first === undefined ? '' : first === last ? String(first) : `${first}–${last}`,
    number(refused),
    Object.entries(warnings)
      .map(([code, count]) => `${code} ${count}`)
      .join(', '),
  ]
}

function warningText({ warningPlaces, keyId, minute }: KeptMinute): string {
  const lines = Object.entries(warningPlaces).map(([code, places]) => `  ${code}: ${places.join(', ')}\n`)
  if (lines.length === 0) return ''
  return `\nWarnings for ${keyId} at ${minuteText(minute)}, for example in:\n${lines.join('')}`
}

function minuteText(minute: number): string {
  return timestampText(minute * minuteMs).slice(0, 'YYYY-MM-DD HH:mm'.length)
}

function refusalText({ refusals, refused, keyId, minute }: KeptMinute): string {
  if (refused === 0) return ''
  const lines = refusals.map(({ atMs, requestId, code, faults }) => {
    const places = faults.map(
      (fault) => `${fault.pointer === '' ? 'the whole' : fault.pointer} (${fault.code})`,
    )
    return `  ${timestampText(atMs)}  ${code}  request ${plainText(requestId)}${places.length === 0 ? '' : `: ${places.join(', ')}`}\n`
  })
  const further = refused - refusals.length
  if (further > 0) lines.push(`  and ${further.toLocaleString('en-GB')} more\n`)
  return `\nRefusals for ${keyId} at ${minuteText(minute)}:\n${lines.join('')}`
}

function minuteJson(kept: KeptMinute) {
  const { key, minute, numbers, refusals, ...counts } = kept
  const [firstNumber = null, lastNumber = null] = numbers ?? []
  return {
    at: new Date(minute * minuteMs).toISOString(),
    feed: key.feed,
    ...counts,
    firstNumber,
    lastNumber,
    refusals: refusals.map(({ atMs, requestId, code, faults }) => {
      return { at: new Date(atMs).toISOString(), requestId, code, faults }
    }),
  }
}
