/** Round robin over many tenants: a few at a time, each with its own wait between two tasks. Knows nothing of feeds or tables. */
import { setTimeout as delay } from 'node:timers/promises'

interface RoundRobinOptions {
  readonly names: readonly string[]
  /** Brings one tenant up to date. `true`: something had changed, so that its next task is due soon. */
  readonly task: (name: string) => Promise<boolean>
  /** A task failed. The least wait before the next one, in ms; `undefined`: there is no next one. */
  readonly onFailure: (name: string, error: unknown, failures: number) => number | undefined
  /** Until the signal; otherwise one task for each tenant, repeated while `onFailure` gives a wait. */
  readonly follow: boolean
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly random?: () => number
  readonly now?: () => number
}

/** From one task of a tenant to the next: 1 s after a change, doubled up to 30 s while nothing changes. */
const minIntervalMs = 1_000
const maxIntervalMs = 30_000

/**
 * A longer task no longer counts against `concurrency`, for up to as many tasks again: a few first copies or silent servers must
 * not delay all other tenants.
 */
const longTaskMs = 5_000

/** The longest wait before due tenants are looked up again. */
const pollIntervalMs = 1_000

interface Tenant {
  readonly name: string
  dueMs: number
  intervalMs: number
  failures: number
}

/** Resolves when every tenant is done or, with `follow`, after the signal, when no task is running any more. */
export async function runRoundRobin(options: RoundRobinOptions): Promise<void> {
  // The monotonic clock: one that is set back would delay every tenant by as much.
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
      const task = runNext(next).finally(() => running.delete(task))
      running.set(task, now())
      continue
    }
    await firstOf([...running.keys()], waitMs, signal)
  }
  await Promise.all(running.keys())
}

async function runTask(
  tenant: Tenant,
  { task, onFailure }: RoundRobinOptions,
): Promise<{ readonly waitMs: number; readonly done: boolean } | undefined> {
  try {
    const hasChanged = await task(tenant.name)
    tenant.failures = 0
    tenant.intervalMs = hasChanged ? minIntervalMs : Math.min(maxIntervalMs, tenant.intervalMs * 2)
    return { waitMs: tenant.intervalMs, done: true }
  } catch (error) {
    tenant.failures += 1
    const waitMs = onFailure(tenant.name, error, tenant.failures)
    return waitMs === undefined ? undefined : { waitMs, done: false }
  }
}

/** Some milliseconds for ten thousand tenants. */
function earliest(waiting: ReadonlySet<Tenant>): Tenant | undefined {
  let first: Tenant | undefined
  for (const tenant of waiting) if (first === undefined || tenant.dueMs < first.dueMs) first = tenant
  return first
}

function hasRoom(begunMs: readonly number[], concurrency: number, nowMs: number): boolean {
  const long = begunMs.filter((begun) => nowMs - begun > longTaskMs).length
  return begunMs.length - Math.min(long, concurrency) < concurrency
}

/** Until a task ends, the time is over, or the signal comes. */
async function firstOf(tasks: readonly Promise<void>[], waitMs: number, signal: AbortSignal): Promise<void> {
  const done = new AbortController()
  const pause = delay(Math.max(1, waitMs), undefined, { signal: AbortSignal.any([signal, done.signal]) })
  await Promise.race([...tasks, pause.catch(() => undefined)])
  done.abort()
}
