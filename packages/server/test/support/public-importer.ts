/**
 * A consumer as a known public client of a service with this contract behaves: 25 events a page from page 1, stop at the
 * first page without items, stable sort by `createdDate` to the second, the newest per `transactionId`, types 0 (insert or
 * update) and 1 (remove the property whose `agent_ref` is the `transactionId`), and abort on anything else.
 */
import assert from 'node:assert/strict'
import { call, listPath, pageOf } from './http-client.ts'
import type { Page } from './http-client.ts'
import type { TestProperty } from './property.ts'
import type { TestService } from './test-service.ts'

export interface Import {
  /** The price of each property that is on the site then, by its `agent_ref`. */
  readonly site: ReadonlyMap<string, unknown>
  readonly requests: number
}

/** A run that begins with an empty site. Rejects where the client would abort. */
export async function importProperties(service: Pick<TestService, 'port'>, key: string): Promise<Import> {
  const events: Page['items'][number][] = []
  let requests = 0
  for (let page = 1; ; page += 1) {
    const answer = await call(service, `${listPath}?apiEventType=property&page=${page}&pageSize=25`, { key })
    requests += 1
    assert.equal(answer.status, 200, 'any other status is a failed import')
    const { items } = pageOf(answer)
    if (items.length === 0) break
    events.push(...items)
  }
  const toSecond = (date: string) => date.slice(0, 19)
  const sorted = events.toSorted((left, right) =>
    toSecond(left.createdDate).localeCompare(toSecond(right.createdDate)),
  )
  const newest = new Map<string, Page['items'][number]>()
  for (const event of sorted) newest.set(event.transactionId, event)
  const site = new Map<string, unknown>()
  for (const { eventType, payload, transactionId } of newest.values()) {
    if (eventType === 0) {
      const parsed = JSON.parse(payload) as TestProperty
      site.set(parsed.agent_ref, parsed['price_information'])
    } else if (eventType === 1) site.delete(transactionId)
    else throw new Error(`the import aborts on event type ${eventType}`)
  }
  return { site, requests }
}

/** Numbers that look random and are the same in every run. */
export function sequence(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}
