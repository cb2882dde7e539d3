import { setTimeout as delay } from 'node:timers/promises'
import { ticksOfMilliseconds } from '@property-events/protocol'
import type { StorageEngine } from '../../../src/store/storage.ts'
import { draft } from './drafts.ts'
import { list, publish } from './read-back.ts'

export const publishers = 3
export const requestsEach = 8

export interface Observation {
  readonly published: readonly string[]
  /** What each poller has not seen. */
  readonly missed: readonly (readonly string[])[]
  readonly pollsDuringCommits: number
}

/** Publishers write through `writing` while pollers ask `reading` by their last asking time. */
export async function observe(writing: StorageEngine, reading: StorageEngine): Promise<Observation> {
  const published: string[] = []
  let committing = 0
  let pollsDuringCommits = 0
  const stop = new AbortController()

  const publisher = async (name: string): Promise<void> => {
    for (let n = 0; n < requestsEach; n += 1) {
      const sent = draft({ subject: `${name} ${n}` })
      committing += 1
      await publish(writing, [sent])
      committing -= 1
      published.push(sent.id)
      await delay(n % 3)
    }
  }
  const poller = async (pauseMs: number): Promise<ReadonlySet<string>> => {
    const seen = new Set<string>()
    let from = 0n
    const poll = async (): Promise<void> => {
      const asked = ticksOfMilliseconds(performance.timeOrigin + performance.now())
      if (committing > 0) pollsDuringCommits += 1
      for (const event of await list(reading, { from })) seen.add(event.id)
      from = asked
      await delay(pauseMs)
    }
    while (!stop.signal.aborted) await poll()
    await poll()
    return seen
  }

  const pollers = [1, 5, 12, 30].map(poller)
  await Promise.all(Array.from({ length: publishers }, (_, n) => publisher(`p${n}`)))
  stop.abort()
  const seen = await Promise.all(pollers)
  const missed = seen.map((ids) => published.filter((id) => !ids.has(id)))
  return { published, missed, pollsDuringCommits }
}
