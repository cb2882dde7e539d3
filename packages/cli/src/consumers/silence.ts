/** `keys expect` and `tenants expect`: how long a consumer, or the publisher of a feed, may be silent. */
import type { Command } from 'commander'
import {
  defaultConsumer,
  isConsumerName,
  longestSetMs,
  setConsumersPerKey,
  shortestSetMs,
} from '@property-events/server'
import type { PresenceName, SetExpectation } from '@property-events/server'
import { addAction, flagFeed, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { keyIdOf, unknownKey } from '../keys/key.ts'
import { changeSettings, findTenant, withStore } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import { addSettings } from '../settings/read-settings.ts'
import { Refusal } from '../refusal.ts'

const intervalWords = 'a time such as 30m, 12h or 7d; or learned; or never, if nothing is expected'
const note =
  'After that time without activity, the log says so once, and again when activity resumes; metrics and `consumers list` show it. If no ' +
  'interval is set, it is learned after 7 days: 1.5 times the longest pause of the last 14 days, and at least 15 minutes.'

export function addExpectConsumer(keys: Command, context: CommandContext): void {
  const command = keys
    .command('expect')
    .description('set how long a consumer may go without a request before it is reported as stalled')
    .argument('<key>', 'id of the key, or the key itself')
    .argument('<interval>', intervalWords)
    .option('--consumer <name>', 'what the key is used for, as in x-feed-consumer (default: the key itself)')
  addNote(command, note)
  addSettings(command, changeSettings)
  addAction(command, context, (invocation, [written = '', interval = '']) => {
    const { settings: reader, flags } = invocation
    const expectation = readInterval(invocation, interval)
    const name = flagText(flags, 'consumer') ?? defaultConsumer
    if (!isConsumerName(name)) {
      reader.fault(
        '--consumer has 1 to 64 letters, digits, ".", "_" and "-", and begins with a letter or digit.',
      )
    }
    return withStore(reader, flags, async (store) => {
      const keyId = keyIdOf(written, store.flags)
      const words = name === defaultConsumer ? `key ${keyId}` : `${name} of key ${keyId}`
      await expect(invocation, store, { kind: 'consumer', keyId, name }, expectation, words)
    })
  })
}

export function addExpectPublisher(tenants: Command, context: CommandContext): void {
  const command = tenants
    .command('expect')
    .description('set how long a tenant may go without publishing before that is reported')
    .argument('<tenant>', 'id or name')
    .argument('<interval>', intervalWords)
    .option('--feed <feed>', 'property or contact', 'property')
  addNote(command, note)
  addSettings(command, changeSettings)
  addAction(command, context, (invocation, [idOrName = '', interval = '']) => {
    const { settings: reader, flags } = invocation
    const expectation = readInterval(invocation, interval)
    const feed = flagFeed(flags)
    return withStore(reader, flags, async (store) => {
      const { tenantId, name } = await findTenant(store, idOrName)
      const words = `the ${feed} feed of "${name}"`
      await expect(invocation, store, { kind: 'publisher', tenantId, feed }, expectation, words)
    })
  })
}

async function expect(
  { output }: Invocation,
  { storage, actor, flags }: OpenedStore,
  name: PresenceName,
  expectation: SetExpectation | undefined,
  words: string,
): Promise<void> {
  const outcome = await storage.silence.expect(name, expectation, actor)
  if (outcome === 'unknownKey' && name.kind === 'consumer') throw unknownKey(name.keyId, flags)
  if (outcome === 'tooMany') {
    throw new Refusal(
      `${setConsumersPerKey} consumers of this key already have an interval, the most allowed. Set one of them to learned first.`,
    )
  }
  if (output.json) {
    const { kind, ...rest } = name
    const seconds = expectation === 'never' ? 0 : expectation === undefined ? null : expectation / 1_000
    return output.writeJson({ of: kind, ...rest, seconds })
  }
  if (expectation === undefined) return output.write(`The expected interval of ${words} is learned.\n`)
  if (expectation === 'never') return output.write(`Nothing is expected of ${words}.\n`)
  return output.write(`Activity of ${words} is expected every ${lengthText(expectation)}.\n`)
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

function readInterval({ settings: reader }: Invocation, text: string): SetExpectation | undefined {
  if (text === 'learned') return undefined
  if (text === 'never') return 'never'
  const [, digits = '', unit = ''] = /^([1-9][0-9]{0,4})([mhd])$/.exec(text) ?? []
  const ms = Number(digits) * (unitMs[unit] ?? 0)
  if (ms < shortestSetMs || ms > longestSetMs) {
    reader.fault(
      `The interval must be ${intervalWords}; from ${lengthText(shortestSetMs)} to ${lengthText(longestSetMs)}.`,
    )
  }
  return ms
}

function lengthText(ms: number): string {
  const unit = Object.entries(unitMs).findLast(([, length]) => ms % length === 0)
  return unit === undefined ? `${ms / 1_000} s` : `${ms / unit[1]}${unit[0]}`
}
