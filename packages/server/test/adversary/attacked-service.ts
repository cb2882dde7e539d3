/** A service as operators run it, in a process of its own, with the feeds that adversaries read and keys for everybody. */
import { randomBytes, randomUUID } from 'node:crypto'
import { removeFolder, start, temporaryFolder } from '../../../cli/test/support/program.ts'
import { sharedDatabases } from '../postgres/test-databases.ts'
import { call } from '../support/http-client.ts'
import type { BystanderOrders } from './bystander.ts'
import { makeKeys } from './make-keys.ts'
import type { Place } from './make-keys.ts'
import type { Target } from './target.ts'

export interface Setting {
  readonly engine: 'sqlite' | 'postgres'
  readonly plainConnections: 'on' | 'off'
}

export interface AttackedOptions extends Setting {
  /** 1: a large page has some 70 MB; 3: the 256 MB that a page may have. */
  readonly strength: number
}

export interface Attacked extends AsyncDisposable {
  readonly pid: number
  readonly metricsUrl: string
  readonly target: Target
  readonly bystander: BystanderOrders
}

interface Serving {
  readonly url: string
  readonly metricsUrl: string
  readonly pid: number
  /** Its exit code, and what it wrote to stderr. */
  stop(): Promise<{ readonly code: number | null; readonly stderr: string }>
}

/** Shorter than operators have it, so that it comes to an end within a siege. */
const readerTimeoutMs = 4_000

/** Of the service's Node, for those who look for what holds its memory. */
const nodeArguments = process.env['PROPERTY_EVENTS_TEST_NODE_ARGUMENTS']?.split(' ') ?? []

const keyPepper = 'the pepper of a service that is attacked'

export async function startAttacked(options: AttackedOptions): Promise<Attacked> {
  const folder = temporaryFolder()
  const place: Place =
    options.engine === 'sqlite'
      ? { kind: 'sqlite', folder }
      : { kind: 'postgres', url: await (await sharedDatabases()).create(), readConnections: 4 }
  const { large, long, publishers, bystander } = await makeKeys(place, keyPepper)
  const serving = await serve(place, folder, options)
  const port = Number(new URL(serving.url).port)
  const dispose = async (): Promise<void> => {
    const { code, stderr } = await serving.stop()
    removeFolder(folder)
    if (code !== 0) throw new Error(`the service ended with ${code}: ${stderr.slice(-5_000)}`)
  }
  try {
    const note = randomBytes(185_000).toString('base64')
    const largeCount = Math.min(1_000, 290 * options.strength)
    await fill(port, large.publishKey, { count: largeCount, atOnce: 60, note })
    await fill(port, long.publishKey, { count: 3_000 * options.strength, atOnce: 1_000, note: 'A house.' })
  } catch (error) {
    await dispose()
    throw error
  }
  return {
    pid: serving.pid,
    metricsUrl: serving.metricsUrl,
    target: {
      port,
      largeKeys: large.keys,
      largeBytes: 250_000 * Math.min(1_000, 290 * options.strength),
      longKeys: long.keys,
      publishKeys: publishers.flatMap(({ keys }) => keys),
      readerTimeoutMs,
      strength: options.strength,
    },
    bystander: {
      port,
      readKey: bystander.keys[0] ?? '',
      rareKeys: bystander.keys.slice(1),
      publishKey: bystander.publishKey,
      pid: serving.pid,
    },
    [Symbol.asyncDispose]: dispose,
  }
}

async function serve(place: Place, folder: string, { plainConnections }: Setting): Promise<Serving> {
  const environment = {
    PROPERTY_EVENTS_KEY_PEPPER: keyPepper,
    ...(place.kind === 'postgres' ? { PROPERTY_EVENTS_DATABASE: place.url } : {}),
  }
  const waits = ['--reader-timeout', `${readerTimeoutMs}ms`]
  const options = ['--data', folder, '--plain-connections', plainConnections, ...waits]
  const running = await start(['serve', ...options], { environment, nodeArguments })
  const { url, metricsUrl } = running.line
  return { url, metricsUrl, pid: running.child.pid ?? 0, stop: () => running.stop() }
}

/** Publishes as publishers do who were told to wait. */
async function fill(
  port: number,
  key: string,
  { count, atOnce, note }: { readonly count: number; readonly atOnce: number; readonly note: string },
): Promise<void> {
  for (let from = 0; from < count; from += atOnce) {
    const length = Math.min(atOnce, count - from)
    const events = Array.from({ length }, () => ({
      id: randomUUID(),
      payload: { agent_ref: randomUUID(), published: true, note },
    }))
    const { status, text } = await call({ port }, '/v1/property-events', {
      method: 'POST',
      key,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(events),
    })
    if (status !== 201) throw new Error(`publishing was answered ${status}: ${text}`)
  }
}
