/** One sync of one tenant into any place for a copy. */
import { createClient, MassRemovalError } from '@property-events/client'
import type { FeedName, OddEvent, ResyncReason, SyncOptions, SyncResult } from '@property-events/client'
import type { CopyKeeper } from '@property-events/tables'
import { retryDuringOutages, outageNotices } from './outage.ts'
import type { Output } from '../output.ts'
import { createProgress, durationText } from '../progress.ts'
import { Refusal } from '../refusal.ts'
import type { ServiceAddress } from '../service-client.ts'

export interface SyncRun {
  readonly address: ServiceAddress
  readonly feed: FeedName
  /** One category alone. */
  readonly type: string | undefined
  readonly follow: boolean
  readonly allowMassRemoval: boolean
  readonly keeper: CopyKeeper
  readonly output: Output
  /** Ends it; applied changes stay. */
  readonly signal: AbortSignal
}

/** Reads what the copy lacks; with `follow` until a signal ends it, whatever happens to service or database meanwhile. */
export async function runSync({ address, feed, type, output, keeper, ...run }: SyncRun): Promise<SyncResult> {
  const { follow, allowMassRemoval } = run
  const outage = { say: (line: string) => output.say(line), signal: run.signal }
  const client = createClient({ ...address, feed, ...outageNotices(address, outage.say, follow) })
  const progress = createProgress(output, 'events')
  /** Over all runs together, and over those that have ended. */
  const read = { events: 0, eventsBefore: 0 }
  const options: SyncOptions = {
    checkpoint: keeper.checkpoint,
    copy: keeper.copy,
    ...(type === undefined ? {} : { apiEventType: type }),
    follow,
    allowMassRemoval,
    signal: outage.signal,
    onProgress: ({ done, total, events }) => {
      read.events = read.eventsBefore + events
      progress.update(read.events, total === 0 ? undefined : done / total)
    },
    onResync: (reason) => output.say(resyncSentence(reason)),
    onOdd: (event) => output.say(oddSentence(event)),
    onTrouble: (error) => output.say(error instanceof Error ? error.message : String(error)),
    apply: (batch) => keeper.apply(batch),
    // A postponed write must not wait for the next change, which may take hours.
    async onCaughtUp() {
      await keeper.keep(false)
      // The run ends here, and is acknowledged after this.
      if (!follow) await keeper.keep(true)
    },
    isStored: () => keeper.isStored(),
  }
  /** However the run ends, copy and checkpoint are on disk and agree: the next run begins there. */
  const syncOnce = async (): Promise<SyncResult> => {
    try {
      const result = await client.sync(options)
      read.events = read.eventsBefore + result.events
      return result
    } finally {
      read.eventsBefore = read.events
      await keeper.keep(true)
    }
  }
  try {
    const ended = await (follow ? retryDuringOutages(syncOnce, outage) : syncOnce())
    return { ...ended, events: read.events, ...keeper.counts }
  } catch (error) {
    throw error instanceof MassRemovalError ? removalRefusal(error) : error
  } finally {
    progress.end()
  }
}

/** Each of them: it is somebody's mistake, and its home stays out of date until it is mended. */
export function oddSentence({ subjectId, sequenceNumber }: OddEvent): string {
  return `The payload of event ${sequenceNumber} cannot be read: ${JSON.stringify(subjectId.slice(0, 100))} keeps its earlier version.`
}

export function readAgainSentence(reason: string): string {
  return `Reading the whole feed again (${reason}).`
}

/** The same for a reason that the client names. */
export function resyncSentence(reason: ResyncReason): string {
  return readAgainSentence(resyncWords[reason])
}

const resyncWords: Readonly<Record<ResyncReason, string>> = {
  epoch_changed: 'it has started a new epoch, as after a restore',
  cursor_refused: 'the service does not have the last number that was read, as after a restore',
  feed_rewritten: 'the newest event that was read is gone, as after a restore',
  server_changed: 'the service has another version now',
}

/** What stopped the removals, and what to do. `further`: further flags of the command that allows them. */
export function removalRefusal(
  { removals, held, removedBefore, limit, windowMs }: MassRemovalError,
  further = '',
): Refusal {
  const number = (value: number) => value.toLocaleString('en-GB')
  const gone = `${number(removedBefore + removals)} of ${number(held + removedBefore)} listings`
  return new Refusal(
    `Stopped: with ${removals === 1 ? 'this one' : `these ${number(removals)}`}, ${gone} would be gone within ${durationText(windowMs)} (limit ${number(limit)}). Nothing was removed. ` +
      `To allow it once: --allow-mass-removal${further}. If it is a mistake, have the listings published again and run the command as usual; nothing is lost by waiting.`,
  )
}
