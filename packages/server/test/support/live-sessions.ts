/** One connection over which a stream is read: by Node's HTTP, by curl, or by a bare socket, each until it ends or is cut. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'

export interface StreamAsk {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Given the text of the body as it comes. Its answer, if there is one, is waited for before more is taken. */
  readonly onText: (text: string) => void | Promise<void>
  /** The connection is cut when it is aborted. */
  readonly signal: AbortSignal
}

/** Resolves with the status when the connection has ended, however it did; 0: there was no answer. */
export type StreamSession = (ask: StreamAsk) => Promise<number>

export const byNodeHttp: StreamSession = ({ port, path, headers, onText, signal }) =>
  new Promise((resolve) => {
    const outgoing = request({ host: '127.0.0.1', port, path, agent: false, headers, signal }, (incoming) => {
      incoming.setEncoding('utf8')
      const read = async (): Promise<void> => {
        for await (const text of incoming) await onText(String(text))
      }
      void read()
        .catch(() => undefined)
        .then(() => resolve(incoming.statusCode ?? 0))
    })
    outgoing.on('error', () => resolve(0))
    outgoing.end()
  })

/** Without a curl of the machine's own, this resolves with 0, and its reader never gets anywhere. */
export const byCurl: StreamSession = async ({ port, path, headers, onText, signal }) => {
  const lines = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const format = ['-w', '%{stderr}%{http_code}']
  const child = spawn('curl', ['-sN', ...lines, ...format, `http://127.0.0.1:${port}${path}`])
  const cut = (): void => void child.kill('SIGKILL')
  signal.addEventListener('abort', cut)
  if (signal.aborted) cut()
  let code = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (code += text))
  const ended = once(child, 'close').catch(() => undefined)
  child.stdout.setEncoding('utf8')
  for await (const text of child.stdout) await onText(String(text))
  await ended
  signal.removeEventListener('abort', cut)
  return Number(code)
}

/** Takes the chunks apart by itself (RFC 9112 §7.1). */
export const byBareSocket: StreamSession = async ({ port, path, headers, onText, signal }) => {
  const socket = connect({ host: '127.0.0.1', port })
  const cut = (): void => void socket.destroy()
  signal.addEventListener('abort', cut)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${lines.join('')}\r\n`)
  const decoder = new TextDecoder()
  let bytes = Buffer.alloc(0)
  let status = 0
  try {
    for await (const piece of socket) {
      bytes = Buffer.concat([bytes, piece])
      if (status === 0) {
        const end = bytes.indexOf('\r\n\r\n')
        if (end === -1) continue
        status = Number(bytes.toString('latin1', 9, 12))
        bytes = bytes.subarray(end + 4)
      }
      for (;;) {
        const lineEnd = bytes.indexOf('\r\n')
        const length = lineEnd === -1 ? 0 : Number.parseInt(bytes.toString('latin1', 0, lineEnd), 16)
        const end = lineEnd + 2 + length
        if (!(length > 0) || bytes.length < end + 2) break
        await onText(decoder.decode(bytes.subarray(lineEnd + 2, end), { stream: true }))
        bytes = bytes.subarray(end + 2)
      }
    }
  } catch {
    // Cut, by either side.
  }
  signal.removeEventListener('abort', cut)
  return status
}
