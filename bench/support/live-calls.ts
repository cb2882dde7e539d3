/** How often a node asks its store while readers wait and nothing comes. */
import { mkdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { scopes } from '@property-events/protocol'
import { createLogger, createService, issueKey, loadPeppers } from '../../packages/server/src/index.ts'
import type { EventStore } from '../../packages/server/src/events/event-log.ts'
import { benchFeed, emptyStore } from './store.ts'

export interface StoreCalls {
  /** Reads and writes of events, for a long-poll, a stream and a reader of many feeds in turn. */
  readonly readers: number
  readonly callsPerSecond: number
  readonly verbs: Readonly<Record<string, number>>
}

/** In a separate folder, in this process, because the calls cannot be seen from outside. */
export async function countStoreCalls(folder: string, readers: number, seconds: number): Promise<StoreCalls> {
  mkdirSync(folder, { recursive: true })
  await using storage = await emptyStore({ kind: 'sqlite', folder }, 1)
  const verbs: Record<string, number> = {}
  const [pepper] = loadPeppers({ folder, given: undefined })
  const service = await createService({
    storage: { ...storage, events: counted(storage.events, verbs) },
    peppers: [pepper],
    log: createLogger({ level: 'silent' }),
    host: '127.0.0.1',
    port: 0,
    metrics: undefined,
    limits: { waitingPerKey: readers },
  })
  const closing = new AbortController()
  try {
    const grants = [{ tenantId: benchFeed.tenantId, scopes: [...scopes] }]
    const terms = {
      label: 'bench',
      operator: false,
      grants,
      expiresMs: undefined,
      actor: 'cli:bench' as const,
    }
    const issued = await issueKey(storage.keys, pepper, { ...terms, nowMs: Date.now() })
    if (issued.kind !== 'issued') throw new Error('no key')
    const headers = { 'x-api-key': issued.text }
    const { signal } = closing
    const heads: { next: string } = JSON.parse(
      await (await fetch(`${service.url}/v1/heads?wait=1`, { headers })).text(),
    )
    const paths = [
      '/v1/property-events?after=0&wait=30',
      '/v1/property-events/stream?after=head',
      `/v1/heads?since=${heads.next}&wait=30`,
    ]
    for (let index = 0; index < readers; index += 1) {
      const path = paths[index % paths.length] ?? ''
      fetch(`${service.url}${path}`, { headers, signal }).catch(() => undefined)
    }
    await delay(2_000)
    for (const name of Object.keys(verbs)) verbs[name] = 0
    await delay(seconds * 1_000)
    const all = Object.values(verbs).reduce((sum, count) => sum + count, 0)
    return { readers, callsPerSecond: all / seconds, verbs: { ...verbs } }
  } finally {
    closing.abort()
    await service.close()
  }
}

/** The same store, with its calls counted by verb. An answer from memory is not a call. */
function counted(events: EventStore, verbs: Record<string, number>): EventStore {
  return new Proxy(events, {
    get(target, name, receiver) {
      const verb: unknown = Reflect.get(target, name, receiver)
      if (typeof verb !== 'function' || name === 'changeCount' || name === 'watch') return verb
      return (...given: readonly unknown[]): unknown => {
        verbs[String(name)] = (verbs[String(name)] ?? 0) + 1
        return Reflect.apply(verb, target, given)
      }
    },
  })
}
