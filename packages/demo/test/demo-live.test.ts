/** A demo as it is started: what its console is told of who has seen a property, without anybody doing anything. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { removeFolder, start, temporaryFolder } from '../../cli/test/support/program.ts'
import type { Running } from '../../cli/test/support/program.ts'

const mostMs = 60_000
const agentRef = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'

interface Delivery {
  readonly consumers?: readonly {
    readonly label: string
    readonly state: string
    readonly sentence: string
  }[]
}

describe('a demo that nobody has told to stand still', () => {
  const root = temporaryFolder()
  let running: Running
  before(async () => {
    running = await start(['demo', '--data', join(root, 'data')])
  })
  after(async () => {
    const { code, stderr } = await running.stop()
    removeFolder(root)
    assert.equal(code, 0, stderr)
  })

  async function ask<T>(path: string): Promise<T> {
    const { url, adminKey = '' } = running.line
    const answer = await fetch(`${url}/v1/admin/tenants/${path}`, { headers: { 'x-api-key': adminKey } })
    return (await answer.json()) as T
  }

  async function statesOf(reference: string, isReached: (states: Map<string, string>) => boolean) {
    const endMs = performance.now() + mostMs
    for (;;) {
      const path = `${running.line.tenants?.[0]?.tenantId}/properties/${reference}/delivery`
      const { consumers = [] } = await ask<Delivery>(path)
      const states = new Map(consumers.map(({ label, state }) => [label, state]))
      if (isReached(states)) return consumers.map(({ label, state }) => `${label}: ${state}`).toSorted()
      assert.ok(performance.now() < endMs, JSON.stringify(consumers))
      await delay(200)
    }
  }

  it('has a sentence of each kind: shown there, sent, lettings alone, never asked, and a key that has ended (PROTOCOL §14.6)', async () => {
    const { url, tenants } = running.line
    const [tenant] = tenants ?? []
    interface Found {
      readonly items: readonly { readonly agentRef: string; readonly eventTypeShortCode: string }[]
    }
    const { items } = await ask<Found>(`${tenant?.tenantId}/properties?limit=1`)
    const [loaded] = items
    await statesOf(
      loaded?.agentRef ?? '',
      (states) =>
        ['sent', 'other_category'].includes(states.get('window display') ?? '') &&
        states.get('old website') === 'refused_by_us',
    )
    const media = Array.from({ length: 5 }, (_, n) => ({
      media_type: 1,
      media_url: `${url}/pictures/house/MILL-LANE/0${n}-front.webp`,
    }))
    const published = await fetch(`${url}/v1/property-events`, {
      method: 'POST',
      headers: { 'x-api-key': tenant?.publishKey ?? '', 'content-type': 'application/json' },
      body: JSON.stringify({ payload: { agent_ref: agentRef, published: true, media } }),
    })
    assert.equal(published.status, 201)
    const states = await statesOf(
      agentRef,
      (now) => now.get('agency website') === 'live' && now.get('homes portal') === 'applied',
    )
    assert.deepEqual(states, [
      'agency website: live',
      'demo website: never_asked',
      'homes portal: applied',
      'lettings app: other_category',
      'old website: refused_by_us',
      'window display: pending',
    ])
  })

  it('publishes changes by itself', async () => {
    const { url, tenants = [] } = running.line
    const count = async (): Promise<number> => {
      const heads = await Promise.all(
        tenants.map(async ({ readKey }) => {
          const answer = await fetch(`${url}/v1/heads`, { headers: { 'x-api-key': readKey } })
          const { heads: found } = (await answer.json()) as { heads: { sequenceNumber: number }[] }
          return found.reduce((sum, { sequenceNumber }) => sum + sequenceNumber, 0)
        }),
      )
      return heads.reduce((sum, one) => sum + one, 0)
    }
    const first = await count()
    const endMs = performance.now() + mostMs
    while ((await count()) <= first) {
      assert.ok(performance.now() < endMs, 'nothing is published')
      await delay(200)
    }
  })
})
