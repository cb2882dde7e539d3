/** Stands between a node and its database, and can do to a connection what networks do. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

export interface Proxy extends AsyncDisposable {
  /** The address of a database behind the proxy. */
  url(database?: string): string
  /** Where new connections lead; the socket file of a server. */
  leadTo(socketFile: string): void
  /** Connections stay open, and nothing passes any more: what a lost route or a stopped machine looks like. */
  freeze(): void
  /** Ends the silence: frozen connections are closed, new ones pass. */
  thaw(): void
  /** Closes each connection after about so many further bytes in either direction; `undefined` stops that. */
  cutAfter(bytes: number | undefined): void
  /** How often that has closed them. */
  readonly cuts: number
  /** From the next answer on, nothing comes back any more, until all is closed by `thaw`. */
  swallowAnswers(): void
}

export async function startProxy(socketFile: string): Promise<Proxy> {
  let target = socketFile
  let state: 'open' | 'frozen' | 'deaf' = 'open'
  let bytesLeft: number | undefined
  let cuts = 0
  const sockets = new Set<Socket>()
  const closeAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }

  const server = createServer((client) => {
    const upstream = connect(target)
    const join = (from: Socket, to: Socket, isAnswer: boolean): void => {
      sockets.add(from)
      from.on('data', (chunk: Buffer) => {
        if (state === 'frozen' || (state === 'deaf' && isAnswer)) return
        const part = bytesLeft === undefined ? chunk : chunk.subarray(0, bytesLeft)
        to.write(part)
        if (bytesLeft === undefined) return
        bytesLeft -= part.length
        if (bytesLeft > 0) return
        bytesLeft = undefined
        cuts += 1
        closeAll()
      })
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        if (state !== 'frozen') to.destroy()
      })
    }
    join(client, upstream, false)
    join(upstream, client, true)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    url: (database = 'postgres') => `postgres://postgres@127.0.0.1:${port}/${database}`,
    leadTo(socketFile) {
      target = socketFile
    },
    freeze() {
      state = 'frozen'
    },
    thaw() {
      state = 'open'
      closeAll()
    },
    cutAfter(bytes) {
      bytesLeft = bytes
    },
    get cuts() {
      return cuts
    },
    swallowAnswers() {
      state = 'deaf'
    },
    async [Symbol.asyncDispose]() {
      closeAll()
      server.close()
      await once(server, 'close')
    },
  }
}
