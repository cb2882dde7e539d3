/** Publishers and readers of one feed, from all nodes, until they are told that it is over; and what they wrote down. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Reply } from './ask.ts'
import { publishUntilOver } from './publishers.ts'
import { idReader, numberReader, pageReader, timeReader } from './readers.ts'
import type { Step } from './readers.ts'
import { itemsIn } from './record.ts'
import type { Answer, FeedRecord, Publication, Question } from './record.ts'
import type { ServiceNode } from './service-nodes.ts'

/** A feed and its keys. */
export interface ServedFeed {
  readonly readKey: string
  readonly publishKey: string
}

export interface LoadOptions {
  readonly feed: ServedFeed
  readonly nodes: readonly ServiceNode[]
  readonly publishers: number
  /** At most so long between two requests of a publisher. */
  readonly pauseMs: number
  readonly clockOffsetMs: () => number
  /** Ends everything at once, for tests that have failed. */
  readonly signal: AbortSignal
}

/** What publishers and readers share. */
export interface FeedLoad extends LoadOptions {
  readonly publications: Publication[]
  readonly refusals: string[]
  isOver(): boolean
  /** A body with `items` was answered. */
  note(question: Question, node: ServiceNode, reply: Reply, minimum: number | undefined): void
  noteItems(
    question: Question,
    node: ServiceNode,
    reply: Reply,
    minimum: number | undefined,
    items: readonly string[],
  ): void
}

export interface RunningLoad {
  /** Resolves when so many requests were acknowledged and so many polls by time answered. */
  reached(acknowledged: number, polls: number): Promise<void>
  /** Each request is seen to its end, everybody reads once more, and the whole feed is read. */
  finish(): Promise<FeedRecord>
}

const readerPauseMs = 15

export function startLoad(options: LoadOptions): RunningLoad {
  let over = false
  const answers: Answer[] = []
  const known = new Map<string, string>()
  const load: FeedLoad = {
    ...options,
    publications: [],
    refusals: [],
    isOver: () => over,
    note: (question, node, reply, minimum) =>
      load.noteItems(question, node, reply, minimum, itemsIn(reply.text)),
    noteItems(question, node, { startedMs, endedMs, head }, minimum, items) {
      const same = items.map((item) => known.get(item) ?? kept(known, item))
      answers.push({ question, node: node.name, startedMs, endedMs, minimum, head, items: same })
    },
  }
  const readers = [
    numberReader(load, true),
    numberReader(load, false),
    timeReader(load, 'first reader by time'),
    timeReader(load, 'second reader by time'),
    pageReader(load),
    idReader(load),
  ]
  const publishing = Promise.all(Array.from({ length: options.publishers }, () => publishUntilOver(load)))
  let published = false
  const reading = Promise.all(
    readers.map((step) => readUntil(step, () => published || options.signal.aborted)),
  )

  return {
    async reached(acknowledged, polls) {
      const isReached = (): boolean =>
        load.publications.length >= acknowledged &&
        answers.filter(({ question }) => question.door === 'window').length >= polls
      while (!isReached() && !options.signal.aborted) await delay(20)
    },
    async finish() {
      over = true
      await publishing
      published = true
      await reading
      // Once more, when nothing can come any more.
      await Promise.all(readers.slice(0, -1).map((step) => readToEnd(step)))
      await Promise.all(options.nodes.map((node) => readAll(load, node)))
      const { publications, refusals } = load
      return { publications, refusals, answers, kept: await readAll(load, options.nodes[0]) }
    },
  }
}

/** A text of its own: a part of a body would keep the whole body in memory. */
function kept(known: Map<string, string>, item: string): string {
  const copy = Buffer.from(item).toString()
  known.set(copy, copy)
  return copy
}

async function readUntil(step: Step, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await step()
    await delay(Math.random() * 2 * readerPauseMs)
  }
}

/** Nothing is lost for good: whoever asks often enough gets an answer. */
async function readToEnd(step: Step): Promise<void> {
  for (let times = 0, tries = 0; times < 3; tries += 1) {
    if (await step()) times += 1
    else await delay(100)
    if (tries === 600) throw new Error('a reader got no answer for a minute')
  }
}

/** The whole feed as one node has it, by number; noted as any other reading. */
async function readAll(load: FeedLoad, node: ServiceNode | undefined): Promise<readonly string[]> {
  if (node === undefined) throw new Error('there are no nodes')
  const before = answersOf(load)
  const step = numberReader({ ...load, nodes: [node], note: before.note }, true)
  do await readToEnd(step)
  while (before.isGrowing())
  return before.items
}

function answersOf(load: FeedLoad) {
  const items: string[] = []
  let grown = false
  const note: FeedLoad['note'] = (question, node, reply, minimum) => {
    load.note(question, node, reply, minimum)
    const more = itemsIn(reply.text)
    grown ||= more.length > 0
    items.push(...more)
  }
  const isGrowing = (): boolean => {
    const growing = grown
    grown = false
    return growing
  }
  return { items, note, isGrowing }
}
