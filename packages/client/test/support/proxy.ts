/** A TCP proxy that breaks connections in the middle of answers: cuts, stalls, ends early, refuses. Knows no HTTP. */
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { pick } from './random.ts'
import type { Random } from './random.ts'

export interface Proxy {
  readonly url: string
  /** Breaks nothing from now on. */
  calm(): void
  /** Connections broken so far, by kind. */
  readonly broken: ReadonlyMap<string, number>
  close(): Promise<void>
}

const everyKind = ['cut', 'stall', 'end', 'refuse'] as const

export interface Breaking {
  readonly kinds?: readonly (typeof everyKind)[number][]
  /** A connection is broken after fewer bytes of what the server sends. */
  readonly bytesAtMost?: number
}

/** In front of a server on loopback; a share of the connections is broken, each after some bytes of what the server sends. */
export async function startProxy(
  port: number,
  random: Random,
  share: number,
  { kinds = everyKind, bytesAtMost = 120_000 }: Breaking = {},
): Promise<Proxy> {
  const sockets = new Set<Socket>()
  const broken = new Map<string, number>()
  let isCalm = false

  function serve(client: Socket): void {
    const kind = !isCalm && random() < share ? kinds[pick(random, kinds.length)] : undefined
    if (kind !== undefined) broken.set(kind, (broken.get(kind) ?? 0) + 1)
    if (kind === 'refuse') {
      client.resetAndDestroy()
      return
    }
    const server = connect(port, '127.0.0.1')
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
    client.pipe(server)
    client.on('close', () => server.destroy())
    let left = kind === undefined ? Infinity : pick(random, bytesAtMost)
    server.on('data', (bytes: Buffer) => {
      client.write(bytes.subarray(0, left))
      left -= bytes.length
      if (left > 0) return
      server.pause()
      if (kind === 'cut') client.resetAndDestroy()
      if (kind === 'end') client.end()
    })
    server.on('end', () => client.end())
  }

  const listener = createServer(serve)
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port: own } = listener.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${own}`,
    calm: () => {
      isCalm = true
    },
    broken,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}
