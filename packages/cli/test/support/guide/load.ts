/** Readers and publishers of the guide's service, through its proxy with TLS, who note whatever they lose. */
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'

export interface Load {
  readonly lost: readonly string[]
  /** Publications that were acknowledged, and reads that were answered. */
  counts(): { readonly published: number; readonly read: number }
  stop(): Promise<void>
}

export interface Keys {
  readonly read: string
  readonly publish: string
}

interface Asked {
  readonly path: string
  readonly key: string
  readonly body?: string
}

const listPath = '/api/func/api/v1/events/getevents?pageSize=1'

/** Asks nginx on this machine by the name its certificate has. */
export function client(ca: string) {
  const agent = new Agent({ ca, servername: 'feed.example.com', keepAlive: true })
  return ({ path, key, body }: Asked): Promise<{ readonly status: number; readonly text: string }> =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port: 443,
          path,
          agent,
          method: body === undefined ? 'GET' : 'POST',
          headers: {
            host: 'feed.example.com',
            'x-api-key': key,
            ...(body === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': body.length }),
          },
        },
        (incoming) => {
          let text = ''
          incoming.setEncoding('utf8').on('data', (part: string) => (text += part))
          incoming.on('error', reject)
          incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }))
        },
      )
      outgoing.on('error', reject)
      outgoing.end(body)
    })
}

export function startLoad(ask: ReturnType<typeof client>, keys: Keys): Load {
  const lost: string[] = []
  let [published, read] = [0, 0]
  const over = new AbortController()
  const publish = async (): Promise<void> => {
    const body = JSON.stringify({ id: randomUUID(), payload: { agent_ref: randomUUID(), published: true } })
    const { status, text } = await ask({ path: '/v1/property-events', key: keys.publish, body })
    if (status === 201) published += 1
    else lost.push(`publishing: ${status} ${text.slice(0, 200)}`)
  }
  const list = async (): Promise<void> => {
    const { status, text } = await ask({ path: listPath, key: keys.read })
    if (status === 200) read += 1
    else lost.push(`reading: ${status} ${text.slice(0, 200)}`)
  }
  // Slower than the limits of a key, which are on.
  const repeat = async (one: () => Promise<void>): Promise<void> => {
    while (!over.signal.aborted) {
      await one().catch((error: unknown) => lost.push(String(error)))
      await delay(80)
    }
  }
  const running = [publish, publish, list, list].map(repeat)
  return {
    lost,
    counts: () => ({ published, read }),
    async stop() {
      over.abort()
      await Promise.all(running)
    },
  }
}

/** How many events the reader's feed has. */
export async function availableCount(ask: ReturnType<typeof client>, key: string): Promise<number> {
  const { status, text } = await ask({ path: listPath, key })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return (JSON.parse(text) as { availableCount: number }).availableCount
}
