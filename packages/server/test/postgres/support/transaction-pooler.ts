/**
 * A pooler that gives sessions to others between transactions, as PgBouncer does with `pool_mode = transaction`: a client
 * keeps a session only from its first message to the end of its transaction.
 */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

export interface TransactionPooler extends AsyncDisposable {
  url(): string
}

interface Session {
  readonly socket: Socket
  /** Who has it now, and gets what the server says. */
  user: Socket | undefined
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const message = (type: string, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(type), int32(body.length + 4), body])

const startup = (): Buffer => {
  const body = Buffer.concat([int32(196_608), Buffer.from('user\0postgres\0database\0postgres\0\0')])
  return Buffer.concat([int32(body.length + 4), body])
}
const greeting = Buffer.concat([
  message('R', int32(0)),
  message('S', Buffer.from('client_encoding\0UTF8\0')),
  message('Z', Buffer.from('I')),
])

export async function startTransactionPooler(socketFile: string): Promise<TransactionPooler> {
  const idle: Session[] = []
  const sockets = new Set<Socket>()

  /** The session that was given back last, or a new one; resolves when the server is ready for it. */
  async function take(): Promise<Session> {
    const known = idle.pop()
    if (known !== undefined) return known
    const socket = connect(socketFile)
    sockets.add(socket)
    const session: Session = { socket, user: undefined }
    const ready = Promise.withResolvers<void>()
    let rest = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => {
      session.user?.write(bytes)
      rest = Buffer.concat([rest, bytes])
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        const end = 1 + rest.readInt32BE(1)
        const [type, status] = [String.fromCharCode(rest[0] ?? 0), String.fromCharCode(rest[5] ?? 0)]
        rest = rest.subarray(end)
        if (type !== 'Z') continue
        ready.resolve()
        if (status === 'I' && session.user !== undefined) {
          session.user = undefined
          idle.push(session)
        }
      }
    })
    socket.write(startup())
    await ready.promise
    return session
  }

  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => undefined)
    let greeted = false
    let mine: Promise<Session> | undefined
    client.on('data', (bytes: Buffer) => {
      if (!greeted) {
        greeted = true
        client.write(greeting)
        return
      }
      // Terminate: the session stays for others.
      if (bytes[0] === 'X'.charCodeAt(0)) {
        client.end()
        return
      }
      const held = mine
      mine = (async () => {
        const before = await held
        const session = before?.user === client ? before : await take()
        session.user = client
        session.socket.write(bytes)
        return session
      })()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: () => `postgres://postgres@127.0.0.1:${port}/postgres`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
