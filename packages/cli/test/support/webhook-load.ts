/** Homes that are published again and again, and endpoints that are to be told of each time. */
import assert from 'node:assert/strict'
import { uuidV7 } from '@property-events/protocol'
import type { Webhook } from '@property-events/protocol/wire'

/** For receivers on this machine. */
export const toThisMachine = [
  '--webhook-allow-http',
  '--webhook-allow-networks',
  '127.0.0.0/8',
  '--webhook-answers',
  'all',
]

const homes = Array.from({ length: 12 }, () => uuidV7(Date.now()))
let edition = 0

export async function askService<T>(url: string, key: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  assert.ok(answer.ok, await answer.clone().text())
  const value: T = JSON.parse(await answer.text())
  return value
}

/** Some events of each home; returns the last number. */
export async function publishHomes(url: string, key: string, count: number): Promise<number> {
  const events = Array.from({ length: count }, (_, n) => {
    const summary = `Tŷ ar lan y môr, argraffiad ${(edition += 1)} – £ 🏡`
    return { payload: { agent_ref: homes[n % homes.length], published: true, details: { summary } } }
  })
  const receipt: { readonly events: readonly { readonly sequenceNumber: number }[] } = await askService(
    url,
    key,
    '/v1/property-events',
    events,
  )
  return receipt.events.at(-1)?.sequenceNumber ?? 0
}

/** Everything up to the number is acknowledged, and nothing waits. */
export async function isSettled(url: string, key: string, id: string, last: number): Promise<boolean> {
  const { cursor, waiting } = await askService<Webhook>(url, key, `/v1/webhooks/${id}`)
  return cursor.settled === last && waiting === 0
}
