/** The consumers of a demo, which give its console something to show: their keys are made once and saved beside the store. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueKey } from '@property-events/server'
import type { Pepper, StorageEngine } from '@property-events/server'
import { marketTenants } from './demo-data/tenants.ts'
import { pauseByTimer } from './run-live.ts'
import type { Pause } from './run-live.ts'
import { memberOf, memberText } from '@property-events/protocol'
import { writeWhole } from '@property-events/server/plain'
import { AccessError, createClient } from '@property-events/client'
import type { Client, ConsumerResult, EventRun } from '@property-events/client'

/**
 * `reports`: keeps up to date, and reports a result for each listing. `follows`: keeps up to date. `lettings`: the same with lettings alone.
 * `stopped`: has read everything once, and never again. `ended`: its key has expired, and it still asks.
 */
type ConsumerBehaviour = 'reports' | 'follows' | 'lettings' | 'stopped' | 'ended'

interface DemoConsumer {
  readonly tenantId: string
  /** Of its key. */
  readonly label: string
  readonly behaviour: ConsumerBehaviour
}

const behaviours: readonly (readonly (readonly [label: string, behaviour: ConsumerBehaviour])[])[] = [
  [
    ['agency website', 'reports'],
    ['homes portal', 'follows'],
    ['lettings app', 'lettings'],
    ['window display', 'stopped'],
    ['old website', 'ended'],
  ],
  [
    ['agency website', 'reports'],
    ['homes portal', 'stopped'],
  ],
  [
    ['agency website', 'follows'],
    ['lettings app', 'lettings'],
  ],
]

const demoConsumers: readonly DemoConsumer[] = marketTenants.flatMap(({ tenantId }, tenant) =>
  (behaviours[tenant] ?? []).map(([label, behaviour]) => ({ tenantId, label, behaviour })),
)

type KeyedConsumer = DemoConsumer & { readonly keyId: string; readonly key: string }

const fileName = 'demo-consumers.json'
const dayMs = 86_400_000
/** What has stopped counts as silent from then on. */
const expectedEveryMs = 10 * 60_000

/** Uses the keys that were saved, makes the others, and keeps them all. */
export async function consumerKeys(
  folder: string,
  { keys, silence }: Pick<StorageEngine, 'keys' | 'silence'>,
  pepper: Pepper,
): Promise<readonly KeyedConsumer[]> {
  const saved = readSavedKeys(folder)
  const found: KeyedConsumer[] = []
  let changed = false
  for (const consumer of demoConsumers) {
    const before = saved.find(
      (one) =>
        memberText(one, 'tenantId') === consumer.tenantId && memberText(one, 'label') === consumer.label,
    )
    const [keyId, key] = [memberText(before, 'keyId'), memberText(before, 'key')]
    if (keyId !== undefined && key !== undefined && (await keys.findKey(keyId)) !== undefined) {
      found.push({ ...consumer, keyId, key })
      continue
    }
    changed = true
    const nowMs = Date.now()
    const hasEnded = consumer.behaviour === 'ended'
    const issued = await issueKey(keys, pepper, {
      label: consumer.label,
      operator: false,
      grants: [{ tenantId: consumer.tenantId, scopes: ['property:read'] }],
      expiresMs: hasEnded ? nowMs - dayMs : undefined,
      nowMs: hasEnded ? nowMs - 30 * dayMs : nowMs,
      actor: 'service',
    })
    if (issued.kind !== 'issued') throw new Error('the tenants of the demo are gone')
    const made = { ...consumer, keyId: issued.record.keyId, key: issued.text }
    if (consumer.behaviour === 'stopped') {
      await silence.expect(
        { kind: 'consumer', keyId: made.keyId, name: 'default' },
        expectedEveryMs,
        'service',
      )
    }
    found.push(made)
  }
  if (changed) await writeWhole(join(folder, fileName), [`${JSON.stringify(found, undefined, 2)}\n`])
  return found
}

function readSavedKeys(folder: string): readonly unknown[] {
  try {
    const saved: unknown = JSON.parse(readFileSync(join(folder, fileName), 'utf8'))
    return Array.isArray(saved) ? saved : []
  } catch {
    return []
  }
}

/** Reads the feeds of a demo as its consumers do, over HTTP like anybody else. */
interface ConsumersParts {
  /** The address of the service. */
  readonly url: string
  readonly storage: { readonly consumers: Pick<StorageEngine['consumers'], 'acknowledgements' | 'readings'> }
  readonly consumers: readonly KeyedConsumer[]
  readonly signal: AbortSignal
  /** For tests. */
  readonly pause?: Pause
}

/** Small pages with a rest between them: the person who started the demo comes first. */
const pageEvents = 200
const pauseMs = 50
const waitSeconds = 25
/** When a consumer whose key has ended, or whose service is away, tries again. */
const retryMs = 60_000

/** Runs until the signal. The consumers first catch up one after the other, then each follows by itself. Never rejects. */
export async function runConsumers(parts: ConsumersParts): Promise<void> {
  const { consumers, signal, pause = pauseByTimer } = parts
  const running: Promise<void>[] = []
  for (const consumer of consumers) {
    if (signal.aborted) break
    const one = new AbortController()
    const caughtUp = new Promise<void>((resolve) => {
      one.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    running.push(runConsumer(parts, consumer, pause, () => one.abort()).finally(() => one.abort()))
    await caughtUp
  }
  await Promise.all(running)
}

async function runConsumer(
  parts: ConsumersParts,
  consumer: KeyedConsumer,
  pause: Pause,
  onCaughtUp: () => void,
): Promise<void> {
  const { url, signal } = parts
  const client = createClient({ baseUrl: url, key: consumer.key, retry: { attempts: 1 } })
  let after: number | undefined
  while (!signal.aborted) {
    try {
      after ??= await startPosition(parts, consumer)
      if (after === undefined) return
      const run = await readNext(client, consumer, after, signal)
      after = run.next
      const isAtEnd = run.next >= run.head
      if (isAtEnd) onCaughtUp()
      if (isAtEnd && consumer.behaviour === 'stopped') return
      if (!isAtEnd) await pause(pauseMs, signal)
    } catch (error) {
      if (signal.aborted) return
      onCaughtUp()
      // A service that was restored has other numbers: it reads from the beginning.
      if (!(error instanceof AccessError)) after = undefined
      await pause(retryMs, signal)
    }
  }
}

/** Where it goes on; `undefined`: it has stopped. */
async function startPosition(
  { storage: { consumers } }: ConsumersParts,
  { tenantId, keyId, behaviour }: KeyedConsumer,
): Promise<number | undefined> {
  const key = { tenantId, feed: 'property' } as const
  const ofThis = (one: { readonly keyId: string }): boolean => one.keyId === keyId
  if (behaviour === 'stopped') return (await consumers.readings(key)).some(ofThis) ? undefined : 0
  return (await consumers.acknowledgements(key)).find(ofThis)?.sequenceNumber ?? 0
}

/** One request, and what follows from its answer. */
async function readNext(
  client: Client,
  { behaviour }: KeyedConsumer,
  after: number,
  signal: AbortSignal,
): Promise<EventRun> {
  const apiEventType = behaviour === 'lettings' ? 'lettingsproperty' : undefined
  const run = await client.after({ after, limit: pageEvents, apiEventType, wait: waitSeconds }, { signal })
  if (run.next === after) return run
  if (behaviour === 'reports') {
    const results = run.items.flatMap((event) => siteResult(event) ?? [])
    if (results.length > 0) await client.report(results, { signal })
  }
  if (behaviour !== 'stopped') {
    await client.acknowledge({ sequenceNumber: run.next, epoch: run.epoch }, { signal })
  }
  return run
}

/** A listing with fewer is not shown. */
const fewestPhotographs = 5

/** The members of a property event that the result depends on. */
interface SentEvent {
  readonly sequenceNumber: number
  readonly payload: string
}

/** `undefined`: the event is about no property. */
export function siteResult({ sequenceNumber, payload }: SentEvent): ConsumerResult | undefined {
  const listing: unknown = JSON.parse(payload)
  const agentRef = memberText(listing, 'agent_ref')
  if (agentRef === undefined) return undefined
  const about = { agentRef, sequenceNumber }
  if (memberOf(listing, 'published') !== true) return { ...about, outcome: 'live' }
  const media = memberOf(listing, 'media')
  const photographs = Array.isArray(media) ? media.length : 0
  if (photographs < fewestPhotographs) {
    const message = `The site wants ${fewestPhotographs} photographs; this listing has ${photographs}`
    return { ...about, outcome: 'refused', code: 'too_few_photographs', message }
  }
  const epc = memberOf(memberOf(listing, 'details'), 'epc_information')
  if (epc !== undefined && memberOf(epc, 'current_energy_rating') === null) {
    const message = 'The site waits for the energy certificate'
    return { ...about, outcome: 'held', code: 'no_energy_rating', message }
  }
  return { ...about, outcome: 'live', url: `https://www.example.com/homes/${agentRef}` }
}
