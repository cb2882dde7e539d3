/** What a website that follows a feed has to show: worked out from the contract's list alone, page by page. */
import assert from 'node:assert/strict'
import { listing } from '@property-events/client/listing'

export interface ExpectedHome {
  readonly category: 'sales' | 'lettings'
  readonly priceText: string
  /** In their order. */
  readonly photographs: readonly string[]
}

export interface ExpectedPages {
  readonly live: ReadonlyMap<string, ExpectedHome>
  /** Were published once, and have gone. */
  readonly gone: ReadonlySet<string>
}

interface ListedEvent {
  readonly sequenceNumber: number
  readonly payload: string
}

interface Payload {
  readonly agent_ref: string
  readonly published?: boolean
  readonly media?: readonly {
    readonly media_type: number
    readonly media_url: string
    readonly sort_order: number
  }[]
  readonly price_information?: { readonly price: number; readonly rent_frequency?: number }
}

export async function expectedPages(url: string, key: string): Promise<ExpectedPages> {
  const latest = new Map<string, ListedEvent>()
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const answer = await fetch(`${url}/api/func/api/v1/events/getevents?page=${page}&pageSize=1000`, {
      headers: { 'x-api-key': key },
    })
    assert.equal(answer.status, 200)
    const { items, totalPages } = (await answer.json()) as { items: ListedEvent[]; totalPages: number }
    pages = totalPages
    for (const event of items) {
      const { agent_ref: reference } = JSON.parse(event.payload) as Payload
      if (event.sequenceNumber > (latest.get(reference)?.sequenceNumber ?? 0)) latest.set(reference, event)
    }
  }
  const live = new Map<string, ExpectedHome>()
  const gone = new Set<string>()
  for (const [reference, event] of latest) {
    const payload = JSON.parse(event.payload) as Payload
    if (payload.published === true) live.set(reference, expectedHome(payload))
    else gone.add(reference)
  }
  return { live, gone }
}

function expectedHome(payload: Payload): ExpectedHome {
  const { price = 0, rent_frequency: rentFrequency } = payload.price_information ?? {}
  const priceText = listing(JSON.stringify(payload))?.price.text ?? ''
  // The text is the client's; the amount in it is the feed's.
  assert.ok(priceText.includes(`£${price.toLocaleString('en-GB')}`), `${priceText} names ${price}`)
  const photographs = (payload.media ?? [])
    .filter((item) => item.media_type === 1)
    .toSorted((one, other) => one.sort_order - other.sort_order)
    .map((item) => item.media_url)
  return { category: rentFrequency === undefined ? 'sales' : 'lettings', priceText, photographs }
}
