/**
 * Several sockets listen on the port of a service. libuv takes one new connection of each in a turn of the event loop, however many wait.
 * With one socket, some hundred strangers that connected over and over made everybody else wait for as many turns: 20 s and more
 * while the service was busy.
 */
import type { Server } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo, Server as PlainServer } from 'node:net'

export interface ListenOptions {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

export interface Listening {
  /** Rejects with Node's own error when that cannot be (`EADDRINUSE`, `EACCES`, …). */
  readonly listen: (options: ListenOptions) => Promise<AddressInfo>
  /** Takes no new connections; resolves once those there are have ended. */
  close(): Promise<void>
}

/**
 * How many new connections the system keeps until they are taken; Linux allows 4,096 by default. With Node's 511, strangers that connected by the
 * thousand made it drop connections of others, which try again only after 1, 3, 7 and 15 s.
 */
const backlog = 4_096

/** Sockets can share a port on Linux, FreeBSD and others; only Linux spreads connections over them. */
const sockets = process.platform === 'linux' ? 8 : 1

/** `server` gets the connections of all of them. To be called before it listens. */
export function listening(server: Server): Listening {
  // As Node's HTTP has its own.
  const others = Array.from({ length: sockets - 1 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket)),
  )
  const close = async (): Promise<void> => {
    await Promise.all([server, ...others].map(closed))
  }
  return {
    async listen({ host, port }) {
      if (sockets === 1) return listenOn(server, { host, port })
      // Sockets that share a port do not notice that somebody else shares it already.
      if (port !== 0) await mustBeFree({ host, port })
      const address = await listenOn(server, { host, port, reusePort: true })
      const further = await Promise.allSettled(
        others.map((one) => listenOn(one, { host, port: address.port, reusePort: true })),
      )
      const failed = further.find((one) => one.status === 'rejected')
      if (failed !== undefined) {
        // Such as without descriptors: sockets that go on listening would keep the process alive, with nobody to answer.
        await close()
        throw failed.reason
      }
      return address
    },
    close,
  }
}

/** Rejects where somebody listens. */
async function mustBeFree(place: ListenOptions): Promise<void> {
  const server = createServer()
  await listenOn(server, place)
  await closed(server)
}

/** Rejects with Node's own error when that cannot be. */
export function listenOn(
  server: PlainServer,
  options: ListenOptions & { readonly reusePort?: boolean },
): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...options, backlog }, () => {
      server.off('error', reject)
      const address = server.address()
      if (address === null || typeof address === 'string')
        reject(new Error('the server does not listen on a port'))
      else resolve(address)
    })
  })
}

function closed(server: PlainServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}
