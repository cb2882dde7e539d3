/** What a key that is limited to branches has to read: the fold of the whole feed, filtered by branch (D11). */
import assert from 'node:assert/strict'
import { feeds } from '@property-events/protocol'
import type { Category } from '@property-events/protocol'
import { call } from './http-client.ts'
import type { Page } from './http-client.ts'
import type { TestService } from './test-service.ts'

/** As an answer has it. */
export type Item = Page['items'][number]

export interface ModelEvent {
  readonly item: Item
  readonly subjectId: string
  readonly branch: string | undefined
  readonly category: Category
}

export type ModelView = 'property' | 'salesproperty' | 'lettingsproperty'

export const modelViews = [
  'property',
  'salesproperty',
  'lettingsproperty',
] as const satisfies readonly ModelView[]

const categoryOf = { property: undefined, salesproperty: 'sales', lettingsproperty: 'lettings' } as const

/** The feed as a key reads it that is limited to nothing: read often enough, it has seen every payload before that was erased. */
export class FeedModel {
  readonly #service: Pick<TestService, 'port'>
  readonly #key: string
  #events: ModelEvent[] = []
  /** Numbers of events that closed an erased property: they never had a payload. */
  readonly closing = new Set<number>()
  /** Of each subject's last event. */
  readonly #branches = new Map<string, string | undefined>()

  constructor(service: Pick<TestService, 'port'>, key: string) {
    this.#service = service
    this.#key = key
  }

  get events(): readonly ModelEvent[] {
    return this.#events
  }

  /** Reads what has come since. */
  async catchUp(): Promise<void> {
    const sales = new Set((await this.#run('&apiEventType=salesproperty')).map(({ id }) => id))
    for (const item of await this.#run('')) {
      const payload: { agent_ref: string; branch_id?: string; erased?: true } = JSON.parse(item.payload)
      const subjectId = payload.agent_ref.toLowerCase()
      // What closes a property that is erased is of the branch that the property was of.
      const branch = payload.erased === true ? this.#branches.get(subjectId) : payload.branch_id
      this.#branches.set(subjectId, branch)
      this.#events.push({ item, subjectId, branch, category: sales.has(item.id) ? 'sales' : 'lettings' })
    }
  }

  /** Reads all again: payloads that were erased are shown so from now on. */
  async readAgain(): Promise<void> {
    const items = new Map((await this.#run('', 0)).map((item) => [item.id, item]))
    this.#events = this.#events.map((event) => ({ ...event, item: items.get(event.item.id) ?? event.item }))
    await this.catchUp()
  }

  /** Whole events, in order. */
  of(branches: readonly string[], view: ModelView = 'property'): readonly ModelEvent[] {
    const category = categoryOf[view]
    return this.#events.filter(
      (event) =>
        event.branch !== undefined &&
        branches.includes(event.branch) &&
        (category === undefined || event.category === category),
    )
  }

  /** The last event of each subject, where it is of the branches and of the view, of the events up to a number. */
  latestOf(branches: readonly string[], view: ModelView, through = Infinity): readonly ModelEvent[] {
    const until = this.#events.filter(({ item }) => item.sequenceNumber <= through)
    const last = new Map(until.map((event) => [event.subjectId, event]))
    return this.of(branches, view).filter((event) => last.get(event.subjectId) === event)
  }

  async #run(query: string, from = this.#events.at(-1)?.item.sequenceNumber ?? 0): Promise<readonly Item[]> {
    const items: Item[] = []
    for (let after = from; ;) {
      const path = `${feeds.property.publishPath}?limit=1000&after=${after}${query}`
      const answer = await call(this.#service, path, { key: this.#key })
      assert.equal(answer.status, 200, answer.text)
      const run: { items: readonly Item[]; next: number; head: number } = JSON.parse(answer.text)
      items.push(...run.items)
      if (run.next >= run.head) return items
      after = run.next
    }
  }
}
