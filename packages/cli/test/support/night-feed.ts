/** What a publisher means a feed to hold, and what it holds. */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'

/** A property's price, or that it was removed. */
export type State = number | 'gone'

/** A line of a file: what a property becomes. */
export interface Change {
  readonly subject: string
  readonly state: State
  /** An id of the publisher's own. */
  readonly id?: string
}

/** An event, as far as this is about it. */
export type Happened = readonly [subject: string, state: State]

export function lineOf({ subject, state, id }: Change): string {
  const own = id === undefined ? {} : { id }
  return state === 'gone'
    ? JSON.stringify({ ...own, remove: { agentRef: subject } })
    : JSON.stringify({
        ...own,
        payload: { agent_ref: subject, published: true, price_information: { price: state } },
      })
}

/** What a publisher's properties are, as the sum of what was published. */
export interface Holding {
  stateOf(subject: string): State | undefined
  /** The events that these changes make, in order: one for each that changes something. Nothing is noted. */
  eventsOf(changes: readonly Change[]): readonly Happened[]
  note(events: readonly Happened[]): void
}

export function createHolding(): Holding {
  const states = new Map<string, State>()
  return {
    stateOf: (subject) => states.get(subject),
    eventsOf(changes) {
      const now = new Map(states)
      return changes.flatMap(({ subject, state }): readonly Happened[] => {
        if (now.get(subject) === state) return []
        now.set(subject, state)
        return [[subject, state]]
      })
    },
    note(events) {
      for (const [subject, state] of events) states.set(subject, state)
    },
  }
}

/** How many of the events happened; fails unless exactly the first ones did, each once and in order. */
export function prefixOf(wanted: readonly Happened[], happened: readonly Happened[], story: string): number {
  assert.ok(happened.length <= wanted.length, `${story}: something twice: ${JSON.stringify(happened)}`)
  assert.deepEqual(happened, wanted.slice(0, happened.length), story)
  return happened.length
}

/** Fails unless the events happened, each once and in order. */
export function assertHappened(
  wanted: readonly Happened[],
  happened: readonly Happened[],
  story: string,
): void {
  if (!isDeepStrictEqual(happened, wanted)) assert.deepEqual(happened, wanted, story)
}

/** Reads what has come to a feed since the last time, of those properties that a publisher has. */
export function feedReader(url: string, key: string): () => Promise<readonly Happened[]> {
  let after = 0
  return async () => {
    const happened: Happened[] = []
    for (;;) {
      const response = await fetch(`${url}/v1/property-events?after=${after}&limit=1000`, {
        headers: { 'x-api-key': key },
      })
      assert.equal(response.status, 200)
      const { items, next, head } = (await response.json()) as {
        items: readonly { payload: string }[]
        next: number
        head: number
      }
      for (const { payload } of items) {
        const { agent_ref, published, price_information } = JSON.parse(payload) as {
          agent_ref: string
          published: boolean
          price_information: { price: number }
        }
        happened.push([agent_ref, published ? price_information.price : 'gone'])
      }
      after = next
      if (next >= head) return happened
    }
  }
}
