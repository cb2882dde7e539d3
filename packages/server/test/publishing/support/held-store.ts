/** A store whose commits end when a test says so, and which notes what came in them, for tests of the queue before it. */
import { StorageFailure } from '../../../src/sql/storage-errors.ts'
import type { AppendBatch, AppendOutcome, EventDraft } from '../../../src/events/append/append-batch.ts'
import type { EventStore } from '../../../src/events/event-log.ts'
import { until } from '../../support/until.ts'

/** With what a commit fails: somebody else has locked one of its feeds; one of its batches is at fault. */
export const locked = new StorageFailure('feed_locked')
export const refused = new StorageFailure('storage_unavailable', new Error('a value'), 'batches')

export interface HeldStore extends Pick<EventStore, 'append' | 'appendsAtOnce'> {
  /** The feeds of the batches in each commit, in the order the commits began: `a b b`. */
  readonly commits: readonly string[]
  /** How long each of them would wait for locks. */
  readonly waits: readonly (number | undefined)[]
  /** The names of the batches that were stored, in their order. */
  readonly stored: readonly string[]
  /** What a queue must not do, in words. */
  readonly faults: readonly string[]
  /** Asked when a commit ends: with what it fails. */
  failing: (batches: readonly { readonly feed: string; readonly name: string }[]) => Error | undefined
  /** Ends a commit under way, the first one if left out, well or with this error. Does nothing where there is none. */
  end(error?: Error, nth?: number): void
  /** Ends all commits, those to come as well, some time later. */
  endAll(): void
}

interface Held {
  readonly feeds: ReadonlySet<string>
  end(error: Error | undefined): void
}

export function heldStore(appendsAtOnce: number): HeldStore {
  const commits: string[] = []
  const stored: string[] = []
  const faults: string[] = []
  const waits: (number | undefined)[] = []
  const underWay: Held[] = []
  let endsAll = false
  const store: HeldStore = {
    appendsAtOnce,
    commits,
    waits,
    stored,
    faults,
    failing: () => undefined,
    append(batches, lockWaitMs) {
      const named = batches.map((batch) => ({
        feed: feedOf(batch),
        name: batch.drafts[0]?.transactionId ?? '',
      }))
      const feeds = new Set(named.map(({ feed }) => feed))
      for (const { feeds: others } of underWay) {
        for (const feed of feeds) if (others.has(feed)) faults.push(`${feed} is in two commits at once`)
      }
      // Locked feeds are waited for beside them.
      if (underWay.length >= appendsAtOnce + 2) faults.push(`${underWay.length + 1} commits at once`)
      commits.push(named.map(({ feed }) => feed).join(' '))
      waits.push(lockWaitMs)
      return new Promise<readonly AppendOutcome[]>((resolve, reject) => {
        const held: Held = {
          feeds,
          end(error) {
            underWay.splice(underWay.indexOf(held), 1)
            const failure = error ?? store.failing(named)
            if (failure !== undefined) return reject(failure)
            stored.push(...named.map(({ name }) => name))
            resolve(batches.map(() => ({ kind: 'stored', events: [] })))
          },
        }
        underWay.push(held)
        if (endsAll) setImmediate(() => held.end(undefined))
      })
    },
    end: (error, nth = 0) => underWay[nth]?.end(error),
    endAll() {
      endsAll = true
      for (const held of underWay) setImmediate(() => held.end(undefined))
    },
  }
  return store
}

/** Resolves when so many commits have begun. */
export async function untilCommits(store: HeldStore, count: number): Promise<void> {
  await until(() => store.commits.length >= count, { what: `commit ${count}` })
}

/** A batch for `tenant` or `tenant/contact`. */
export function sent(
  feed: string,
  { events = 1, characters = 1, name = feed }: { events?: number; characters?: number; name?: string } = {},
): AppendBatch {
  const [tenantId = '', kind] = feed.split('/')
  return {
    key: { tenantId, feed: kind === 'contact' ? 'contact' : 'property' },
    drafts: Array.from({ length: events }, (_, n) => draft(name, n === 0 ? characters : 0)),
    unchanged: 'store',
  }
}

function feedOf({ key }: AppendBatch): string {
  return key.feed === 'contact' ? `${key.tenantId}/contact` : key.tenantId
}

function draft(name: string, characters: number): EventDraft {
  const bytes = new Uint8Array(32)
  return {
    id: '',
    idGiven: false,
    subjectId: '',
    subjectSpelling: '',
    transactionId: name,
    content: {
      kind: 'payload',
      text: 'x'.repeat(characters),
      hash: bytes,
      published: true,
      branch: undefined,
      impliedCategory: undefined,
      priceLooksLike: undefined,
      updateDateHash: null,
    },
    eventTypeShortCode: undefined,
    category: undefined,
    contentHash: bytes,
  }
}
