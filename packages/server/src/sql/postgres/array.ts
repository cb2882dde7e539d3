/**
 * Lists of values in PostgreSQL's binary form, so that nothing has to be formatted here and parsed there, or quoted. The type of the
 * elements must be the one that the statement declares, as in `$1::uuid[]`; the server refuses any other.
 */
import { isUuid, writeUuid } from '@property-events/protocol'
import type { FeedKey } from '../../events/feed-key.ts'
import { feedNumbers } from '../database.ts'
import { freeBytes } from '../../runtime/memory/free-bytes.ts'

type List<T> = readonly (T | null)[]

/** Numbers of types in PostgreSQL's `pg_type`, the same in every server. */
const typeNumbers = {
  boolean: 16,
  bytea: 17,
  bigint: 20,
  smallint: 21,
  integer: 23,
  text: 25,
  uuid: 2_950,
} as const

/** Throws for any other text, as the server would: bytes made from such a text would be an id that no publisher gave. */
export function uuids(values: List<string>): Buffer {
  return arrayOf('uuid', values, 16, writeUuidText)
}

export function bigints(values: List<bigint | number>): Buffer {
  return arrayOf('bigint', values, 8, writeBigint)
}

export function integers(values: List<number>): Buffer {
  return arrayOf('integer', values, 4, writeInteger)
}

export function smallints(values: List<number>): Buffer {
  return arrayOf('smallint', values, 2, writeSmallint)
}

/** Feeds, as two lists: of their tenants and of their numbers. */
export function feedLists(keys: readonly FeedKey[]): readonly [Buffer, Buffer] {
  return [uuids(keys.map(({ tenantId }) => tenantId)), smallints(keys.map(({ feed }) => feedNumbers[feed]))]
}

export function booleans(values: List<boolean>): Buffer {
  return arrayOf('boolean', values, 1, writeBoolean)
}

export function texts(values: List<string>): Buffer {
  return textsOf(values, (value) => value)
}

/** Makes each text when it is written: a thousand long ones at once would stay in memory until V8 collects old objects. */
export function textsOf<Item>(items: readonly Item[], textOf: (item: Item) => string | null): Buffer {
  let into: Buffer = Buffer.allocUnsafe(headBytes + items.length * usualTextBytes)
  let at = writeHead(into, 'text', items)
  for (const item of items) {
    const text = textOf(item)
    const mostBytes = lengthBytes + mostBytesPerUnit * (text?.length ?? 0)
    if (at + mostBytes > into.byteLength) into = longer(into, at, mostBytes)
    const length = text === null ? isNull : into.write(text, at + lengthBytes)
    into.writeInt32BE(length, at)
    at += lengthBytes + Math.max(length, 0)
  }
  return into.subarray(0, at)
}

const usualTextBytes = 64
/** A UTF-16 unit in UTF-8. */
const mostBytesPerUnit = 3

/** Room for as much again as was written and for `moreBytes`; the memory of the shorter one is released. */
function longer(written: Buffer, at: number, moreBytes: number): Buffer {
  const into = Buffer.allocUnsafe(2 * at + moreBytes)
  written.copy(into, 0, 0, at)
  freeBytes(written)
  return into
}

export function bytes(values: List<Uint8Array>): Buffer {
  let size = headBytes
  for (const value of values) size += lengthBytes + (value?.byteLength ?? 0)
  const into = Buffer.allocUnsafe(size)
  let at = writeHead(into, 'bytea', values)
  for (const value of values) {
    into.writeInt32BE(value?.byteLength ?? isNull, at)
    at += lengthBytes
    if (value === null) continue
    into.set(value, at)
    at += value.byteLength
  }
  return into.subarray(0, at)
}

const headBytes = 20
const lengthBytes = 4
/** Replaces an element's length. */
const isNull = -1

type Write<T> = (into: Buffer, value: T, at: number) => void

// Functions of the module: those that were made for each list were compiled some twenty times in six seconds (docs/decisions/0053).
const writeUuidText: Write<string> = (into, value, at) => {
  if (!isUuid(value)) throw new TypeError(`${JSON.stringify(value)} is not a UUID`)
  writeUuid(value, into, at)
}
const writeBigint: Write<bigint | number> = (into, value, at) => into.writeBigInt64BE(BigInt(value), at)
const writeInteger: Write<number> = (into, value, at) => into.writeInt32BE(value, at)
const writeSmallint: Write<number> = (into, value, at) => into.writeInt16BE(value, at)
const writeBoolean: Write<boolean> = (into, value, at) => into.writeUInt8(value ? 1 : 0, at)

function arrayOf<T>(
  type: keyof typeof typeNumbers,
  values: List<T>,
  elementBytes: number,
  write: Write<T>,
): Buffer {
  const into = Buffer.allocUnsafe(headBytes + values.length * (lengthBytes + elementBytes))
  let at = writeHead(into, type, values)
  for (const value of values) {
    into.writeInt32BE(value === null ? isNull : elementBytes, at)
    at += lengthBytes
    if (value === null) continue
    write(into, value, at)
    at += elementBytes
  }
  return into.subarray(0, at)
}

/** Dimensions, flags (the server finds nulls by itself), the type, and the length and first index of the one dimension. */
function writeHead(into: Buffer, type: keyof typeof typeNumbers, values: readonly unknown[]): number {
  into.writeInt32BE(values.length === 0 ? 0 : 1, 0)
  into.writeInt32BE(0, 4)
  into.writeInt32BE(typeNumbers[type], 8)
  if (values.length === 0) return 12
  into.writeInt32BE(values.length, 12)
  into.writeInt32BE(1, 16)
  return headBytes
}
