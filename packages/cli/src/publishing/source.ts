/** The file to publish: read twice, first for its digest. Standard input is kept in a temporary file for that. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '../refusal.ts'
import { refuseOtherFormats } from './other-formats.ts'
import { interruptedExitCode } from '../stop-signal.ts'
import { plainText } from '../terminal-text.ts'

export type Format = 'ndjson' | 'json'

export interface Source {
  readonly digest: string
  readonly bytes: number
  /** It can be read only once, as standard input and named pipes: it was kept in a temporary file. */
  readonly isStream: boolean
  /** The format that the content seems to have. */
  readonly format: Format
  read(): AsyncIterable<Buffer>
  /** Removes the temporary file. */
  close(): void
}

const chunkBytes = 256 * 1024
/** Enough of the beginning to find a first line, or to see that there is none. */
const headBytes = 64 * 1024

/** Opens a path, or standard input for `-`. Named pipes, `/dev/stdin` and process substitutions are read as standard input is. */
export async function openSource(path: string, format: Format | undefined): Promise<Source> {
  if (path === '-') {
    if (process.stdin.isTTY) throw new Refusal('Name a file to publish, or send one to standard input.')
    return openStream(process.stdin, format)
  }
  const stats = statSync(path)
  if (stats.isFile()) return { ...(await describe(path, format, () => undefined)), isStream: false }
  if (stats.isFIFO()) return openStream(createReadStream(path), format)
  // A socket cannot be opened by a path, and has one only as standard input.
  if (stats.isSocket() && path === '/dev/stdin') return openStream(process.stdin, format)
  throw new Refusal(`${plainText(path)} is neither a file nor a named pipe.`)
}

async function openStream(input: Readable, format: Format | undefined): Promise<Source> {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-'))
  // However the program ends, the temporary file is removed: it may hold personal data.
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => process.exit(interruptedExitCode))
  }
  const kept = join(folder, 'input')
  await pipeline(input, createWriteStream(kept, { mode: 0o600 }))
  return { ...(await describe(kept, format, remove)), isStream: true }
}

async function describe(
  path: string,
  format: Format | undefined,
  close: () => void,
): Promise<Omit<Source, 'isStream'>> {
  const hash = createHash('sha256')
  const head: Buffer[] = []
  let bytes = 0
  for await (const chunk of readChunks(path)) {
    hash.update(chunk)
    if (bytes < headBytes) head.push(chunk)
    bytes += chunk.length
  }
  const start = Buffer.concat(head)
  if (format === undefined) refuseOtherFormats(start)
  return {
    digest: hash.digest('hex'),
    bytes,
    format: format ?? formatOf(start.toString('utf8')),
    read: () => withoutMark(readChunks(path)),
    close,
  }
}

/** Windows programs often begin a file with a byte order mark. It says nothing about the content, and is left out. */
export async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let atStart = true
  for await (const chunk of chunks) {
    yield atStart && chunk.subarray(0, 3).equals(byteOrderMark) ? chunk.subarray(3) : chunk
    atStart = false
  }
}

const byteOrderMark = Buffer.from('\ufeff')

/** A file of any size, a part at a time. */
export async function* readChunks(path: string): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes })) {
    if (Buffer.isBuffer(chunk)) yield chunk
  }
}

/**
 * An array is JSON. An object whose first line ends with its `}` is NDJSON, possibly of one line; otherwise it is one
 * object on several lines.
 */
function formatOf(head: string): Format {
  const text = head.replace(/^\ufeff/, '').trimStart()
  if (text.startsWith('[')) return 'json'
  const lineEnd = text.indexOf('\n')
  const firstLine = (lineEnd < 0 ? text : text.slice(0, lineEnd)).trimEnd()
  const isSpreadOut = lineEnd >= 0 && text.startsWith('{') && !firstLine.endsWith('}')
  return isSpreadOut ? 'json' : 'ndjson'
}
