/** Three publishers of different habits. Each publishes one night at a time, and is interrupted now and then. */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import assert from 'node:assert/strict'
import { pick } from '../../../client/test/support/random.ts'
import type { Random } from '../../../client/test/support/random.ts'
import { lineOf, prefixOf, assertHappened, createHolding } from './night-feed.ts'
import type { Change, Happened, State } from './night-feed.ts'
import { run } from './program.ts'
import { cutOff } from './publish-proxy.ts'
import type { PublishProxy } from './publish-proxy.ts'

export interface Place {
  readonly random: Random
  /** Where its files lie. */
  readonly folder: string
  readonly proxy: PublishProxy
  readonly environment: Readonly<Record<string, string>>
  /** What has come to its feed since the last time. */
  readonly happened: () => Promise<readonly Happened[]>
  readonly counts: Counts
}

export interface Counts {
  runs: number
  cuts: number
  /** Runs that said that they go on with one that was interrupted. */
  goneOnWith: number
  /** Runs that were cut off and followed by another file. */
  abandoned: number
  lines: number
  /** Files equal to one of an earlier night. */
  equalFiles: number
  /** Lines sent again under ids that had been sent before. */
  sentAgain: number
  events: number
}

/** Publishes the night's changes, and fails unless exactly what they change has come to the feed. */
export type PublishNight = (night: number) => Promise<void>

const prices: readonly number[] = [100_000, 200_000]

/** So many new properties. */
function subjectsOf(count: number): readonly string[] {
  return Array.from({ length: count }, () => randomUUID())
}

function oneOf<Item>(random: Random, items: readonly Item[]): Item {
  return items[pick(random, items.length)] ?? assert.fail('nothing to choose from')
}

/** Runs `publish` until it is through; cut off at first, as often as chance has it. */
async function publishThrough(
  place: Place,
  args: readonly string[],
  options: { readonly input?: string; readonly cutShare: number },
): Promise<void> {
  const { random, proxy, environment, counts } = place
  const input = options.input === undefined ? {} : { input: options.input }
  while (random() < options.cutShare) {
    counts.cuts += 1
    // The first request: a run that goes on may have no more than that.
    await cutOff(proxy, args, cutOf(random, 1), { environment, ...input })
  }
  counts.runs += 1
  const { code, stderr } = await run(['publish', ...args], { environment, ...input })
  assert.equal(code, 0, stderr)
  if (/^Continuing the run/m.test(stderr)) counts.goneOnWith += 1
}

function cutOf(random: Random, requests: number) {
  return { request: pick(random, requests), moment: oneOf(random, ['sent', 'stored'] as const) }
}

/** Sends each change by itself through a pipe, as it comes: prices go back and forth, properties go and come back. */
export function linePublisher(place: Place): PublishNight {
  const { random, counts } = place
  const holding = createHolding()
  const subjects = subjectsOf(2)
  return async (night) => {
    for (let line = 0; line < 2; line += 1) {
      const subject = oneOf(random, subjects)
      const isThere = holding.stateOf(subject) !== undefined
      const change: Change = {
        subject,
        state: oneOf(random, [...prices, ...(isThere ? ['gone' as const] : [])]),
      }
      const wanted = holding.eventsOf([change])
      await publishThrough(place, ['-'], { input: `${lineOf(change)}\n`, cutShare: 0.15 })
      counts.lines += 1
      counts.events += wanted.length
      assertHappened(wanted, await place.happened(), `line by line, night ${night}`)
      holding.note(wanted)
    }
  }
}

/**
 * Publishes a file of all it has every night, in two requests. Some properties change twice in one file; there are few of them,
 * so that files come to equal earlier ones. A run that was interrupted is started again the same night, or never.
 */
export function filePublisher(place: Place): PublishNight {
  const { random, counts } = place
  const holding = createHolding()
  const [first, second] = subjectsOf(2)
  assert.ok(first !== undefined && second !== undefined)
  const others: readonly Change[] = subjectsOf(500).map((subject) => ({ subject, state: 1 }))
  const path = join(place.folder, 'nightly.ndjson')
  const seen = new Set<string>()
  /** The file that was interrupted and what it still had to do. */
  let left: { readonly text: string; readonly events: readonly Happened[] } | undefined

  const chances = (subject: string): readonly Change[] => {
    const last = oneOf(random, prices)
    const before = prices.find((price) => price !== last) ?? last
    return (random() < 0.3 ? [before, last] : [last]).map((state: State) => ({ subject, state }))
  }

  return async (night) => {
    const changes = [...chances(first), ...others, ...chances(second)]
    const text = changes.map((change) => `${lineOf(change)}\n`).join('')
    writeFileSync(path, text)
    if (seen.has(text)) counts.equalFiles += 1
    seen.add(text)
    // The same file again goes on where it was interrupted; any other one is news.
    const isLeft = left?.text === text
    const wanted = left !== undefined && isLeft ? left.events : holding.eventsOf(changes)
    left = undefined
    const story = `a file each night, night ${night}`
    let before = 0
    if (random() < 0.3) {
      counts.cuts += 1
      const cut = cutOf(random, isLeft ? 1 : 2)
      await cutOff(place.proxy, [path], cut, { environment: place.environment })
      before = prefixOf(wanted, await place.happened(), story)
      holding.note(wanted.slice(0, before))
      if (random() < 0.4) {
        counts.abandoned += 1
        counts.events += before
        left = { text, events: wanted.slice(before) }
        return
      }
    }
    await publishThrough(place, [path], { cutShare: 0.1 })
    const rest = wanted.slice(before)
    assertHappened(rest, await place.happened(), story)
    holding.note(rest)
    counts.lines += changes.length
    counts.events += wanted.length
  }
}

/**
 * Gives each change an id of its own, sends what it has of the night in one file, and with it again what it sent on earlier nights,
 * because it does not know any more whether that arrived.
 */
export function ownIdPublisher(place: Place): PublishNight {
  const { random, counts } = place
  const holding = createHolding()
  const subjects = subjectsOf(3)
  const sent: { readonly change: Change; readonly night: number; readonly wasStored: boolean }[] = []
  return async (night) => {
    const fresh = Array.from({ length: 1 + pick(random, 3) }, (): Change => {
      const subject = oneOf(random, subjects)
      const isThere = holding.stateOf(subject) !== undefined
      return {
        id: randomUUID(),
        subject,
        state: oneOf(random, [...prices, ...(isThere ? ['gone' as const] : [])]),
      }
    })
    // An id that was not stored is kept for 30 days, one that was for ever.
    const known = sent.filter((one) => one.wasStored || night - one.night < 30)
    const again =
      known.length === 0 ? [] : Array.from({ length: pick(random, 4) }, () => oneOf(random, known).change)
    const wanted = holding.eventsOf(fresh)
    const changes = [...new Set([...again, ...fresh])]
    const isArray = night % 2 === 0
    const lines = changes.map(lineOf)
    const path = join(place.folder, isArray ? 'own.json' : 'own.ndjson')
    writeFileSync(path, isArray ? `[${lines.join(',\n')}]` : lines.join('\n'))
    await publishThrough(place, [path], { cutShare: 0.2 })
    assertHappened(wanted, await place.happened(), `ids of its own, night ${night}`)
    for (const [index, change] of fresh.entries()) {
      const made =
        holding.eventsOf(fresh.slice(0, index + 1)).length - holding.eventsOf(fresh.slice(0, index)).length
      sent.push({ change, night, wasStored: made > 0 })
    }
    holding.note(wanted)
    counts.lines += changes.length
    counts.sentAgain += again.length
    counts.events += wanted.length
  }
}
