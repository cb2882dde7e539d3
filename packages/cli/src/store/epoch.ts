/** Continues after numbers were lost, or may have been: with a new epoch or, if nothing is missing, in the old one (D13). */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { feedNames, formatTicks, memberOf, memberText } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { readErasureList } from '@property-events/server'
import type { FeedKey, StorageEngine } from '@property-events/server'
import type { Command } from 'commander'
import { addAction, flagFeed, flagNumber, flagText } from '../command-context.ts'
import type { CommandContext, Invocation } from '../command-context.ts'
import { addNote } from '../help/help-text.ts'
import { changeSettings, findTenant, storeSettings, withStore } from '../open-store.ts'
import type { OpenedStore } from '../open-store.ts'
import {
  acceptLoss,
  erasureEvidence,
  lostErasuresRefusal,
  replayList,
  replayText,
} from '../privacy/erasure-list.ts'
import { epochCommand } from '../program-name.ts'
import { Refusal } from '../refusal.ts'
import { addSettings } from '../settings/read-settings.ts'
import { settings } from '../settings/settings.ts'
import { plainText, tableText } from '../terminal-text.ts'
import { timeText } from '../timestamp-option.ts'

export function addEpoch(program: Command, context: CommandContext): void {
  const epoch = program
    .command('epoch')
    .description('continue sequence numbers after a restore, a loss or a move')
  addStart(epoch, context)
  addHeads(epoch, context)
  addAccept(epoch, context)
}

const startNote =
  'Data erased after the backup was made is in the store again. Give the list that `serve --erasures` keeps with ' +
  '--erasures, and it is erased once more. A store that has erasures, or a key that may erase (even a revoked one), ' +
  'needs --erasures or --accept-lost-erasures.\n\n' +
  'Consumers keep the highest number per property, so they would ignore events with numbers used before. Consumers of a ' +
  'feed in which a new epoch starts read all of it again. `doctor` proposes a number if nodes have reported which ' +
  'numbers they had sent.\n\n' +
  'The first epoch in a copy of a store pauses its webhooks, so that it sends nothing to the receivers of the store it was ' +
  'copied from. If that store is gone for good, give `--webhooks continue`.'

function addStart(epoch: Command, context: CommandContext): void {
  const command = epoch
    .command('start')
    .description('start a new epoch in every feed, in those of one tenant, or in one feed')
    .requiredOption('--continue-after <number>', 'the highest sequence number that any consumer has received')
    .option('--tenant <tenant>', 'only in the feeds of this tenant, by id or name')
    .option('--feed <feed>', `only in this feed of the tenant: ${feedNames.join(' or ')}`)
    .option('--accept-lost-erasures', 'accept that what was erased since the backup is in the store again')
    .option('--webhooks <what>', 'what a copy does with webhooks: paused, or continue')
  addNote(command, startNote)
  addSettings(command, [...changeSettings, settings.erasures])
  addAction(command, context, async (invocation) => {
    const { output, settings: reader, flags } = invocation
    const listPath = reader.value(settings.erasures)
    const isAccepted = flags['acceptLostErasures'] === true
    if (isAccepted && flags['erasures'] !== undefined) {
      reader.fault('Give --erasures or --accept-lost-erasures, and not both.')
    }
    const continueAfter = flagNumber(invocation, '--continue-after', { from: 0, to: 2 ** 52 }) ?? 0
    const feed = flags['feed'] === undefined ? undefined : flagFeed(flags)
    const tenantName = flagText(flags, 'tenant')
    if (feed !== undefined && tenantName === undefined) {
      reader.fault('--feed names one feed of a tenant: name the tenant with --tenant.')
    }
    const webhooks = flagWebhooks(invocation)
    await withStore(reader, flags, async (store) => {
      const feeds = tenantName === undefined ? undefined : await feedsOf(store, tenantName, feed)
      const listed = listPath === undefined || isAccepted ? undefined : await readErasureList(listPath)
      if (listed === undefined && !isAccepted) {
        const sign = await erasureEvidence(store.storage, feeds)
        if (sign !== undefined) throw lostErasuresRefusal(sign, store.flags)
      }
      await store.storage.startEpoch(continueAfter, store.actor, feeds, webhooks)
      if (isAccepted) await acceptLoss(store, feeds?.[0]?.tenantId)
      const replay = listed && (await replayList(store, listed, feeds))
      const readers = await readersOf(store.storage, feeds)
      const waiting = (await store.storage.waitingFeeds()).length
      if (output.json) {
        const erasures = replay ?? null
        return output.writeJson({
          continueAfter,
          feeds: feeds ?? 'all',
          readers,
          waitingFeeds: waiting,
          erasures,
        })
      }
      const where = feeds === undefined ? 'every feed' : `${feeds.length} of the feeds`
      await output.write(
        `Started a new epoch: the next number of ${where} is greater than ${continueAfter}.\n` +
          `${readersText(readers)}.\n`,
      )
      if (replay !== undefined) await output.write(replayText(replay))
      if (waiting > 0) await output.write(`Publishing to ${waiting} other feeds still waits.\n`)
    })
  })
}

function addHeads(epoch: Command, context: CommandContext): void {
  const command = epoch
    .command('heads')
    .description('show the last number of every feed; with --json for `epoch accept` after a move')
  addSettings(command, storeSettings)
  addAction(command, context, ({ output, settings: reader, flags }) =>
    withStore(reader, flags, async ({ storage }) => {
      const heads = await readHeads(storage)
      if (output.json) return output.writeJson(heads)
      const names = new Map((await storage.tenants.tenants()).map(({ tenantId, name }) => [tenantId, name]))
      const rows = heads.map(({ tenantId, feed, position, sequenceNumber, createdDate, epoch }) => {
        const last = position === 0 ? ['', ''] : [String(sequenceNumber), timeText(createdDate ?? '')]
        return [names.get(tenantId) ?? tenantId, feed, String(position), ...last, epoch]
      })
      await output.write(
        tableText(['tenant', 'feed', 'events', 'last number', 'last event (UTC)', 'epoch'], rows),
      )
    }),
  )
}

function addAccept(epoch: Command, context: CommandContext): void {
  const command = epoch
    .command('accept')
    .description('continue without a new epoch after planned work, if nothing is missing')
    .requiredOption('--heads <file>', 'output of `epoch heads --json`, printed after the last publication')
  addNote(
    command,
    'Use it after pg_upgrade, or after a whole store was moved: it compares every feed, and changes nothing if a feed ' +
      'is missing events or a node has sent more. Otherwise publishing continues, and consumers read nothing again.',
  )
  addSettings(command, changeSettings)
  addAction(command, context, async ({ output, settings: reader, flags }) => {
    const path = resolve(flagText(flags, 'heads') ?? '')
    await withStore(reader, flags, async ({ storage, flags: store, actor }) => {
      const fault = await headsFault(storage, readFileSync(path, 'utf8'))
      const advice = `Nothing was changed. If it is lost for good: ${epochCommand(store)}`
      if (fault !== undefined) throw new Refusal(`${fault} ${advice}`)
      if ((await storage.acceptHistory(actor)) === 'missing') {
        throw new Refusal(`A node has sent numbers that this store does not have. ${advice}`)
      }
      if (output.json) return output.writeJson({ accepted: true })
      return output.write('Nothing is missing. Publishing continues, and consumers read nothing again.\n')
    })
  })
}

/** What a copy does with webhooks. */
function flagWebhooks({
  flags,
  settings: reader,
}: Pick<Invocation, 'flags' | 'settings'>): 'paused' | 'continue' {
  const given = flagText(flags, 'webhooks') ?? 'paused'
  if (given === 'paused' || given === 'continue') return given
  reader.fault(`--webhooks is paused or continue, and not ${plainText(given)}.`)
  return 'paused'
}

async function feedsOf(
  store: OpenedStore,
  tenantName: string,
  feed: FeedName | undefined,
): Promise<readonly FeedKey[]> {
  const { tenantId } = await findTenant(store, tenantName)
  return (feed === undefined ? feedNames : [feed]).map((name) => ({ tenantId, feed: name }))
}

interface Readers {
  readonly tenants: readonly string[]
  /** Labels, or else ids, of the keys that can read there and still work. */
  readonly keys: readonly string[]
}

/** The readers of the feeds, as far as keys show. */
async function readersOf(storage: StorageEngine, feeds: readonly FeedKey[] | undefined): Promise<Readers> {
  const tenantIds = feeds && new Set(feeds.map(({ tenantId }) => tenantId))
  const scopes = new Set((feeds ?? feedNames.map((feed) => ({ feed }))).map(({ feed }) => `${feed}:read`))
  const tenants = (await storage.tenants.tenants()).filter(({ tenantId }) => tenantIds?.has(tenantId) ?? true)
  const keys = (await storage.keys.keys()).filter(
    ({ revokedMs, grants }) =>
      revokedMs === undefined &&
      grants.some(
        (grant) =>
          (tenantIds?.has(grant.tenantId) ?? true) && grant.scopes.some((scope) => scopes.has(scope)),
      ),
  )
  return { tenants: tenants.map(({ name }) => name), keys: keys.map(({ label, keyId }) => label || keyId) }
}

/** Names in one sentence; the rest is counted. */
const namedAtMost = 10

function readersText({ tenants, keys }: Readers): string {
  const where = tenants.length === 1 ? plainText(tenants[0] ?? '') : `${tenants.length} tenants`
  if (keys.length === 0) return `No consumer reads anything again: no key can read the feeds of ${where}`
  const named = keys.slice(0, namedAtMost).map((label) => plainText(label))
  const rest = keys.length - named.length
  return `These consumers will read everything again: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''} (${where})`
}

interface RecordedHead extends FeedKey {
  readonly position: number
  readonly sequenceNumber: number
  readonly createdDate: string | null
  readonly epoch: string
}

async function readHeads(storage: StorageEngine): Promise<readonly RecordedHead[]> {
  const heads: RecordedHead[] = []
  for (const { tenantId } of await storage.tenants.tenants()) {
    for (const feed of feedNames) {
      const head = await storage.events.head({ tenantId, feed })
      if (head === undefined) continue
      const { position, sequenceNumber, created, epoch } = head
      const createdDate = created === undefined ? null : formatTicks(created)
      heads.push({ tenantId, feed, position, sequenceNumber, createdDate, epoch })
    }
  }
  return heads
}

/** The numbers that the store lacks, in a sentence; `undefined`: none of those that were recorded. */
async function headsFault(storage: StorageEngine, text: string): Promise<string | undefined> {
  const recorded = parseHeads(text)
  if (recorded === undefined) return 'The file is not output of `epoch heads --json`.'
  const now = new Map((await readHeads(storage)).map((head) => [`${head.tenantId} ${head.feed}`, head]))
  for (const head of recorded) {
    const found = now.get(`${head.tenantId} ${head.feed}`)
    const feed = `the ${head.feed} feed of tenant ${head.tenantId}`
    if (found === undefined) return `The store no longer has ${feed}.`
    if (found.epoch !== head.epoch) return `A new epoch has started in ${feed} since.`
    if (found.position < head.position) {
      return `${sentenceStart(feed)} ends with ${found.sequenceNumber}, and ended with ${head.sequenceNumber}.`
    }
    if (head.position > 0 && !(await isStored(storage, head))) {
      return `Number ${head.sequenceNumber} of ${feed} is not the same event as before.`
    }
  }
  const names = new Set(recorded.map((head) => `${head.tenantId} ${head.feed}`))
  const unknownFeed = [...now.keys()].find((name) => !names.has(name))
  return unknownFeed === undefined
    ? undefined
    : `The store has a feed that is not in the file (${unknownFeed}): the file is from another store, or older.`
}

function sentenceStart(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

async function isStored(storage: StorageEngine, head: RecordedHead): Promise<boolean> {
  const { tenantId, feed, sequenceNumber, createdDate } = head
  const key = { tenantId, feed }
  const query = { key, view: 'all', after: sequenceNumber - 1, limit: 1, latestOnly: false } as const
  const [event] = await storage.events.readAfter(query)
  if (event?.sequenceNumber !== sequenceNumber) return false
  const parsed: unknown = JSON.parse(Buffer.from(event.json).toString())
  return memberText(parsed, 'createdDate') === createdDate
}

function parseHeads(text: string): readonly RecordedHead[] | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(parsed)) return undefined
  const heads = parsed.map(recordedHead)
  return heads.every((head) => head !== undefined) ? heads : undefined
}

function recordedHead(value: unknown): RecordedHead | undefined {
  const [tenantId, epoch] = [memberText(value, 'tenantId'), memberText(value, 'epoch')]
  const feed = feedNames.find((name) => name === memberOf(value, 'feed'))
  const [position, sequenceNumber] = [memberOf(value, 'position'), memberOf(value, 'sequenceNumber')]
  if (tenantId === undefined || feed === undefined || epoch === undefined) return undefined
  if (typeof position !== 'number' || typeof sequenceNumber !== 'number') return undefined
  const createdDate = memberText(value, 'createdDate') ?? null
  return { tenantId, feed, position, sequenceNumber, createdDate, epoch }
}
