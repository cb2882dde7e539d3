/**
 * Limits the connections of a node. Further ones are answered with 503 and closed, as long as descriptors are
 * left for that: without descriptors the system accepts connections and closes them without a word, and the store cannot open its files.
 */
import { readFileSync, readdirSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import type { NodeCounts } from '../bytes-in-flight.ts'
import type { HttpContext } from '../context.ts'

/** Descriptors kept free for the store, its sealed pages, the metrics port, and connections that are being refused. */
const sparedDescriptors = 96

/** Once the connections fall to this share of the limit, new ones are accepted, and the log says so. */
const lowShare = 0.9

/** This many connections may wait for the end of their refusal; any further one is closed at once. */
const mostRefusals = 32

interface ConnectionParts {
  readonly context: Pick<HttpContext, 'limits' | 'log'>
  readonly counts: NodeCounts
  /** Answers one connection too many, and closes it. */
  readonly refuse: (socket: Socket) => void
}

/** Puts the limit in front of a server's connection listeners. Call it once these are complete. */
export function limitConnections(server: Server, { context, counts, refuse }: ConnectionParts): void {
  const [take, ...others] = server.listeners('connection')
  if (take === undefined || others.length > 0) return
  const wanted = context.limits.maxConnections
  const most = mostConnections(wanted)
  if (most < wanted / 2) {
    const sentence =
      'fewer connections are taken than --max-connections says: the limit of open files allows no more'
    context.log.warn({ most, wanted }, sentence)
  }
  let isRefusing = false
  let refusals = 0

  const leave = (): void => {
    counts.connections -= 1
    const { connections } = counts
    if (!isRefusing || connections > most * lowShare) return
    isRefusing = false
    context.log.warn({ connections, most }, 'connections are taken again')
  }
  const turnAway = (socket: Socket): void => {
    if (!isRefusing) {
      isRefusing = true
      const sentence =
        'connections are refused: as many are open as --max-connections and the limit of open files allow'
      context.log.warn({ connections: most, most }, sentence)
    }
    if (refusals >= mostRefusals) {
      socket.destroy()
      return
    }
    refusals += 1
    socket.once('close', () => (refusals -= 1))
    refuse(socket)
  }

  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    if (counts.connections >= most) {
      turnAway(socket)
      return
    }
    counts.connections += 1
    socket.once('close', leave)
    Reflect.apply(take, server, [socket])
  })
}

/** As many as the operator allows, and as the system has descriptors for. */
function mostConnections(wanted: number): number {
  const free = freeDescriptors()
  if (free === undefined) return wanted
  return Math.max(1, Math.min(wanted, free - Math.min(sparedDescriptors, Math.ceil(free / 4))))
}

/** The descriptors that this process may still open; `undefined` if the system does not say, or sets no limit. */
function freeDescriptors(): number | undefined {
  try {
    const [, limit] = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? undefined : Number(limit) - readdirSync('/proc/self/fd').length
  } catch {
    return undefined
  }
}
