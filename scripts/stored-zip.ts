/** Zip archives without compression: the same files make the same bytes, whichever zlib a Node has. */
import { crc32 } from 'node:zlib'

export interface ZippedFile {
  /** With slashes, relative. */
  readonly path: string
  readonly bytes: Uint8Array
}

/** 1 January 1980, the first day that the format knows. */
const firstDay = 0x0021
const versionNeeded = 20
/** Made on Unix; a regular file that its owner writes and all read. */
const madeBy = (3 << 8) | versionNeeded
const fileMode = (0o100644 << 16) >>> 0

/** Files in the order of their paths. Below 4 GiB and 65,536 files, which is all that is made here. */
export function storedZip(files: readonly ZippedFile[]): Buffer {
  const sorted = files.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { path, bytes } of sorted) {
    const name = Buffer.from(path)
    const common = commonFields(name, bytes)
    const local = Buffer.concat([signature(0x04034b50), common, name, bytes])
    directory.push(directoryEntry(common, name, offset))
    parts.push(local)
    offset += local.length
  }
  const entries = Buffer.concat(directory)
  return Buffer.concat([...parts, entries, end(sorted.length, entries.length, offset)])
}

/** What the file and its entry in the directory both begin with. */
function commonFields(name: Buffer, bytes: Uint8Array): Buffer {
  const fields = Buffer.alloc(26)
  fields.writeUInt16LE(versionNeeded, 0)
  // Bit 11: the name is UTF-8.
  fields.writeUInt16LE(0x0800, 2)
  fields.writeUInt16LE(firstDay, 8)
  fields.writeUInt32LE(crc32(bytes), 10)
  fields.writeUInt32LE(bytes.length, 14)
  fields.writeUInt32LE(bytes.length, 18)
  fields.writeUInt16LE(name.length, 22)
  return fields
}

function directoryEntry(common: Buffer, name: Buffer, offset: number): Buffer {
  const before = Buffer.alloc(2)
  before.writeUInt16LE(madeBy, 0)
  const after = Buffer.alloc(14)
  after.writeUInt32LE(fileMode, 6)
  after.writeUInt32LE(offset, 10)
  return Buffer.concat([signature(0x02014b50), before, common, after, name])
}

function end(files: number, directoryBytes: number, offset: number): Buffer {
  const fields = Buffer.alloc(18)
  fields.writeUInt16LE(files, 4)
  fields.writeUInt16LE(files, 6)
  fields.writeUInt32LE(directoryBytes, 8)
  fields.writeUInt32LE(offset, 12)
  return Buffer.concat([signature(0x06054b50), fields])
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value, 0)
  return bytes
}
