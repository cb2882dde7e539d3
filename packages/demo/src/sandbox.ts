/** Keeps the market of the sandbox moving while test keys are in use. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sandboxTenantId } from '@property-events/protocol'
import type { Publisher, StorageEngine, Tenant } from '@property-events/server'
import { uuidV5 } from '@property-events/server/plain'
import type { PropertyBody } from './demo-data/market-event.ts'
import { sandboxChange, sandboxStart, sandboxStepMs, sandboxStepOf } from './demo-data/sandbox-market.ts'

/** Nothing moves if no test key was used for this long: an unused sandbox takes no space. */
const idleMs = 3_600_000
/** How often the last uses are checked; they are written twice a minute. */
const pollIntervalMs = 60_000
/** With more events than this the market stops: some ten weeks of use around the clock, and less than 100 MB. */
const mostEvents = 200_000

const key = { tenantId: sandboxTenantId, feed: 'property' } as const

export interface SandboxParts {
  readonly storage: StorageEngine
  readonly publisher: Publisher
  /** The beginning of its photographs' addresses. */
  readonly mediaUrl: string
  readonly signal: AbortSignal
  readonly say: (line: string) => void
  /** Milliseconds since 1970; for tests. */
  readonly clock?: () => number
  /** Resolves after this many milliseconds, or when the signal is given; for tests. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

/**
 * Fills the sandbox, and then publishes the change of each step. All nodes try to: the id of an event is derived from its step and its
 * content depends on nothing else, so that each is stored once, by whichever node is first. Resolves with the signal. Never rejects.
 */
export async function runSandbox(parts: SandboxParts): Promise<void> {
  const { mediaUrl, signal, say, clock = Date.now, pause = pauseByTimer } = parts
  let isFilled = false
  let isWorking = true
  let wanted = { atMs: -Infinity, isWanted: false }
  while (!signal.aborted) {
    try {
      if (!isFilled) await fill(parts)
      isFilled = true
      const nowMs = clock()
      if (nowMs - wanted.atMs >= pollIntervalMs)
        wanted = { atMs: nowMs, isWanted: await isInUse(parts, nowMs) }
      const step = sandboxStepOf(nowMs)
      const body = wanted.isWanted ? sandboxChange(step, mediaUrl) : undefined
      if (body !== undefined) await publish(parts, `step/${step}`, [body])
      isWorking = true
    } catch (error) {
      if (isWorking && !signal.aborted)
        say(`The sandbox could not be changed: ${error instanceof Error ? error.message : String(error)}`)
      isWorking = false
    }
    await pause(sandboxStepMs - (clock() % sandboxStepMs), signal)
  }
}

const pauseByTimer = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined)

/** As of the moment the tenant was created, so that several nodes that fill it at the same time publish the same. */
async function fill(parts: SandboxParts): Promise<void> {
  const { createdMs } = await sandboxTenant(parts.storage)
  if (((await parts.storage.events.head(key))?.position ?? 0) > 0) return
  await publish(parts, 'start', sandboxStart(sandboxStepOf(createdMs), parts.mediaUrl))
}

async function isInUse({ storage }: SandboxParts, nowMs: number): Promise<boolean> {
  const keys = await storage.keys.keys()
  const isUsed = keys.some(
    ({ grants, lastUsedMs = -Infinity }) =>
      nowMs - lastUsedMs < idleMs && grants.some(({ tenantId }) => tenantId === sandboxTenantId),
  )
  return isUsed && ((await storage.events.head(key))?.position ?? 0) < mostEvents
}

/** A refused change, such as the removal of a home that was never listed, is skipped. */
async function publish(
  { publisher }: SandboxParts,
  name: string,
  bodies: readonly PropertyBody[],
): Promise<void> {
  const events = bodies.map((body, index) => ({ id: uuidV5(sandboxTenantId, `${name}/${index}`), ...body }))
  await publisher.publish({
    key,
    body: Buffer.from(JSON.stringify(events)),
    format: 'json',
    dryRun: false,
    unchanged: 'skip',
  })
}

/** Superseded events of the sandbox lose their payloads after a day: nobody reads its history. */
const retentionDays = 1

/** Creates it if there is none. Safe from many processes at once. */
export async function sandboxTenant(storage: StorageEngine): Promise<Tenant> {
  const made = {
    tenantId: sandboxTenantId,
    name: 'Sandbox (test keys)',
    createdMs: Date.now(),
    suspended: false,
  }
  const outcome = await storage.tenants.createTenant(made, 'service', { sameName: 'allowed' })
  if (outcome === 'created') {
    await storage.retention.setRule(sandboxTenantId, 'retain-properties', retentionDays, 'service')
    return made
  }
  const tenants = await storage.tenants.tenants()
  return tenants.find(({ tenantId }) => tenantId === sandboxTenantId) ?? made
}
