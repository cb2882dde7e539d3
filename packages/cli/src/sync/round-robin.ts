/** Whose turn it is: many tenants, a few at a time, each with waits of its own. Knows nothing of feeds or tables. */
import { setTimeout as delay } from 'node:timers/promises'

interface RoundRobinOptions {
  readonly names: readonly string[]
  /** Brings one tenant into step. `true`: something came, so that it is asked again soon. */
  readonly turn: (name: string) => Promise<boolean>
  /** A turn failed. The wait before the next one in ms, at least; `undefined`: there is none. */
  readonly onFailure: (name: string, error: unknown, failures: number) => number | undefined
  /** For ever, until the signal; else one turn for each, repeated while `onFailure` gives a wait. */
  readonly follow: boolean
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly random?: () => number
  readonly now?: () => number
}

/** A tenant is asked again after 1 s when something came, and after up to 30 s while nothing does. */
const minIntervalMs = 1_000
const maxIntervalMs = 30_000

/**
 * A turn of more than this counts no longer against the turns at a time, up to as many again: a few first copies or silent
 * servers must not hold up everyone else.
 */
const longTurnMs = 5_000

/** The longest wait before looking around again. */
const pollIntervalMs = 1_000

interface Tenant {
  readonly name: string
  dueMs: number
  intervalMs: number
  failures: number
}

/** Resolves when all have had their turn, or, following, after the signal when no turn is under way any more. */
export async function runRoundRobin(options: RoundRobinOptions): Promise<void> {
  // The monotonic clock: one that is set back would hold every tenant for as long.
  const { signal, follow, now = () => performance.now(), random = Math.random } = options
  const waiting = new Set<Tenant>(
    options.names.map((name) => ({ name, dueMs: 0, intervalMs: minIntervalMs, failures: 0 })),
  )
  const running = new Map<Promise<void>, number>()
  const runNext = async (tenant: Tenant): Promise<void> => {
    const again = await runTask(tenant, options)
    if (again === undefined || (!follow && again.done)) return
    // Never less than a service has asked for; what went well may come a little earlier.
    tenant.dueMs = now() + again.waitMs * ((again.done ? 0.75 : 1) + random() / 2)
    waiting.add(tenant)
  }
  while (!signal.aborted && waiting.size + running.size > 0) {
    const next = hasRoom([...running.values()], options.concurrency, now()) ? earliest(waiting) : undefined
    const waitMs = next === undefined ? pollIntervalMs : Math.min(pollIntervalMs, next.dueMs - now())
    if (next !== undefined && waitMs <= 0) {
      waiting.delete(next)
      const turn = runNext(next).finally(() => running.delete(turn))
      running.set(turn, now())
      continue
    }
    await firstOf([...running.keys()], waitMs, signal)
  }
  await Promise.all(running.keys())
}

async function runTask(
  tenant: Tenant,
  { turn, onFailure }: RoundRobinOptions,
): Promise<{ readonly waitMs: number; readonly done: boolean } | undefined> {
  try {
    const hasChanged = await turn(tenant.name)
    tenant.failures = 0
    tenant.intervalMs = hasChanged ? minIntervalMs : Math.min(maxIntervalMs, tenant.intervalMs * 2)
    return { waitMs: tenant.intervalMs, done: true }
  } catch (error) {
    tenant.failures += 1
    const waitMs = onFailure(tenant.name, error, tenant.failures)
    return waitMs === undefined ? undefined : { waitMs, done: false }
  }
}

/** A round over all is some milliseconds for ten thousand tenants. */
function earliest(waiting: ReadonlySet<Tenant>): Tenant | undefined {
  let first: Tenant | undefined
  for (const tenant of waiting) if (first === undefined || tenant.dueMs < first.dueMs) first = tenant
  return first
}

function hasRoom(begunMs: readonly number[], concurrency: number, nowMs: number): boolean {
  const long = begunMs.filter((begun) => nowMs - begun > longTurnMs).length
  return begunMs.length - Math.min(long, concurrency) < concurrency
}

/** Until a turn ends, the time is over, or the signal comes. */
async function firstOf(turns: readonly Promise<void>[], waitMs: number, signal: AbortSignal): Promise<void> {
  const done = new AbortController()
  const pause = delay(Math.max(1, waitMs), undefined, { signal: AbortSignal.any([signal, done.signal]) })
  await Promise.race([...turns, pause.catch(() => undefined)])
  done.abort()
}
