/**
 * Sends long parameters from where they are. node-postgres copies all values of a call into one message, and grows its memory for that in
 * steps: a publication of 16 MB was in memory three times more until V8 collected it (decision 0052).
 */
import type { BindConfig, Client } from 'pg'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'

/** Copying shorter ones costs less than writing them apart. */
const longBytes = 65_536

/** Has a client write values of this kind without copying them. They may not change before the answer has come. */
export function sendLongParameters({ connection }: Client): void {
  const bind = connection.bind.bind(connection)
  connection.bind = (config, more) => {
    if (config?.values?.some(isLong) !== true) return bind(config, more)
    if (!connection.stream.writable) return
    // The query has corked the socket, so they leave together.
    for (const piece of bindMessage(config)) connection.stream.write(piece)
  }
}

/** Frees the long lists (array.ts) among the values of a statement that has been answered. */
export function freeLongParameters(values: readonly unknown[]): void {
  for (const value of values) if (isLong(value)) freeBytes(new Uint8Array(value.buffer))
}

function isLong(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.byteLength >= longBytes
}

const binary = 1
const text = 0
const lengthBytes = 4

/** A `Bind` of PostgreSQL's protocol 3.0, in pieces: formats of the values, the values, and texts as the format of all results. */
function bindMessage({
  portal = '',
  statement = '',
  values = [],
  valueMapper,
}: BindConfig): readonly Buffer[] {
  const formats: number[] = []
  const encoded: Buffer[] = []
  for (const [index, given] of values.entries()) {
    const bytes = encodedValue(valueMapper ? valueMapper(given, index) : given)
    formats.push(bytes?.format ?? text)
    encoded.push(int32(bytes?.value.byteLength ?? -1))
    if (bytes !== undefined) encoded.push(bytes.value)
  }
  const pieces = [
    Buffer.from(`${portal}\0${statement}\0`),
    int16s([values.length, ...formats, values.length]),
    ...encoded,
    int16s([1, text]),
  ]
  let length = lengthBytes
  for (const { byteLength } of pieces) length += byteLength
  return joinedShort([Buffer.from('B'), int32(length), ...pieces])
}

/** `undefined`: null. */
function encodedValue(value: unknown): { readonly format: number; readonly value: Buffer } | undefined {
  if (value === null || value === undefined) return undefined
  if (value instanceof Uint8Array) return { format: binary, value: bytesAt(value) }
  if (typeof value === 'string') return { format: text, value: Buffer.from(value) }
  throw new TypeError('a parameter is neither a text nor bytes')
}

/** One piece for what stands between long ones: each write costs a look at the socket. */
function joinedShort(pieces: readonly Buffer[]): readonly Buffer[] {
  const joined: Buffer[] = []
  let short: Buffer[] = []
  const join = (): void => {
    if (short.length > 0) joined.push(Buffer.concat(short))
    short = []
  }
  for (const piece of pieces) {
    if (!isLong(piece)) short.push(piece)
    else {
      join()
      joined.push(piece)
    }
  }
  join()
  return joined
}

function bytesAt({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

function int32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(lengthBytes)
  bytes.writeInt32BE(value)
  return bytes
}

function int16s(values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(2 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index)
  return bytes
}
