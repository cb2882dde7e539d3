/** The file to publish: read twice, first for its digest. Standard input is kept in a temporary file for that. */
import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs'
import type { ReadStream } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { commandLine } from '../program-name.ts'
import { Refusal } from '../refusal.ts'
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

/**
 * Opens a path, or standard input for `-`. Named pipes, `/dev/stdin` and process substitutions are read as standard input is. Throws when
 * `signal` is aborted.
 */
export async function openSource(
  path: string,
  format: Format | undefined,
  signal: AbortSignal,
): Promise<Source> {
  if (path === '-') {
    if (process.stdin.isTTY) throw new Refusal('Name a file to publish, or send one to standard input.')
    return openStream(process.stdin, format, signal)
  }
  const stats = statSync(path)
  if (stats.isFile()) return { ...(await describe(path, format, signal, () => undefined)), isStream: false }
  if (stats.isFIFO()) {
    const pipe = createReadStream(path)
    signal.addEventListener('abort', () => endOpening(path, pipe), { once: true })
    return openStream(pipe, format, signal)
  }
  // A socket cannot be opened by a path, and has one only as standard input.
  if (stats.isSocket() && path === '/dev/stdin') return openStream(process.stdin, format, signal)
  throw new Refusal(`${plainText(path)} is neither a file nor a named pipe.`)
}

/**
 * Opening a named pipe that nobody writes to waits in a thread, and the end of the process waits for that: a writer ends it. The thread
 * may begin only after the signal, so a writer tries until the pipe is open.
 */
function endOpening(path: string, pipe: ReadStream): void {
  const attempts = setInterval(() => {
    if (!pipe.pending) return clearInterval(attempts)
    try {
      closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK))
    } catch {
      // Nobody is opening it yet, or it has been removed.
    }
  }, 10)
  pipe.once('close', () => clearInterval(attempts))
}

async function openStream(input: Readable, format: Format | undefined, signal: AbortSignal): Promise<Source> {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-'))
  // However the program ends, the temporary file is removed: it may hold personal data.
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  const copy = join(folder, 'input')
  await pipeline(input, createWriteStream(copy, { mode: 0o600 }), { signal })
  return { ...(await describe(copy, format, signal, remove)), isStream: true }
}

async function describe(
  path: string,
  format: Format | undefined,
  signal: AbortSignal,
  close: () => void,
): Promise<Omit<Source, 'isStream'>> {
  const hash = createHash('sha256')
  const head: Buffer[] = []
  let bytes = 0
  for await (const chunk of readChunks(path)) {
    signal.throwIfAborted()
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

/** The name of the format, and what to do with such a file. */
interface OtherFormat {
  readonly name: string
  readonly remedy: string
}

const convert =
  'Turn each property into a line such as {"payload": {"agent_ref": "…", "published": true}} (docs/publishing.md)'
const references = () =>
  `\`${commandLine('reference')}\` creates the agent_ref of references that are not UUIDs`

/** First bytes of files that are not text. */
const signatures: readonly (readonly [bytes: readonly number[], format: OtherFormat])[] = [
  [
    [0x50, 0x4b, 0x03, 0x04],
    { name: 'a ZIP archive or a spreadsheet', remedy: 'Unpack it first, or export NDJSON' },
  ],
  [
    [0x1f, 0x8b],
    {
      name: 'compressed with gzip',
      remedy: `Unpack it on the way: gunzip -c FILE | ${commandLine('publish -')}`,
    },
  ],
  [
    [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66],
    { name: 'an SQLite database', remedy: 'Export NDJSON from it' },
  ],
  [[0x25, 0x50, 0x44, 0x46, 0x2d], { name: 'a PDF', remedy: 'Export NDJSON from where it was made' }],
]

/**
 * Throws a `Refusal` when the beginning of a file is in another format. Not when it is merely faulty: lines are checked
 * one by one.
 */
function refuseOtherFormats(start: Buffer): void {
  const format = otherFormatOf(start)
  if (format === undefined) return
  throw new Refusal(`This is ${format.name}, and publish takes NDJSON or JSON. ${format.remedy}.`)
}

function otherFormatOf(start: Buffer): OtherFormat | undefined {
  const binary = signatures.find(([bytes]) => start.subarray(0, bytes.length).equals(Buffer.from(bytes)))
  if (binary !== undefined) return binary[1]
  const wide = wideTextOf(start)
  const text = (wide ?? start.toString('utf8')).replace(/^\ufeff/, '').trimStart()
  const format = textFormatOf(text)
  if (format !== undefined || wide === undefined) return format
  return {
    name: 'text in UTF-16',
    remedy: `Save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE | ${commandLine('publish -')}`,
  }
}

/** Text in UTF-16, which Windows programs often write; `undefined` for any other. */
function wideTextOf(start: Buffer): string | undefined {
  const [first, second] = start
  if (first === 0xff && second === 0xfe) return start.toString('utf16le')
  if (first === 0xfe && second === 0xff) {
    const even = Buffer.from(start.subarray(0, start.length - (start.length % 2)))
    return even.swap16().toString('utf16le')
  }
  return undefined
}

function textFormatOf(text: string): OtherFormat | undefined {
  if (/^#HEADER#/i.test(text)) {
    return { name: 'a BLM file', remedy: `${convert}; ${references()}` }
  }
  if (/^<(!doctype html|html)/i.test(text)) {
    return {
      name: 'an HTML page',
      remedy: 'It may be an error or login page of the site it was fetched from; open it and see',
    }
  }
  if (text.startsWith('<')) return { name: 'XML', remedy: `${convert}; ${references()}` }
  if (/^\[?\s*\{\s*"(network|branch|property)"\s*:\s*\{/.test(text)) {
    return {
      name: 'a call of the Real Time Datafeed (RTDF)',
      remedy: `Send its "property" member as the payload: {"payload": {…}}; ${references()}`,
    }
  }
  // A guess from two lines, unlike the others.
  if (isTable(text)) {
    const remedy = `${convert}; ${references()}. If it really is NDJSON, pass --format ndjson`
    return { name: 'CSV', remedy }
  }
  return undefined
}

/**
 * A first line of several names, and a second, if there is one, that is not JSON either. A single line may be a faulty
 * event.
 */
function isTable(text: string): boolean {
  const [head = '', second] = text.split('\n', 3).map((line) => line.trim())
  if (/^[{[]/.test(head) || second === undefined || second === '' || /^[{[]/.test(second)) return false
  return [',', ';', '\t', '|'].some((delimiter) => head.includes(delimiter) && second.includes(delimiter))
}
