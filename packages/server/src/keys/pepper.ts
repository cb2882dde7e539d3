/**
 * The pepper: the secret with which a key's own secret is hashed (D11). Without it, a copy of the store can be used neither to use a key
 * nor to test guesses.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { oldPepperFileName, pepperFileName } from '../runtime/files.ts'

export interface Pepper {
  /** A short hash of the pepper, stored with every key that is made with it. */
  readonly pepperId: string
  readonly secret: Uint8Array
  /** True while the pepper is being replaced. It is kept for the keys that were made with it. */
  readonly isOld: boolean
}

/** A pepper that cannot be used. `message` is a sentence for the operator that says what to do. */
export class PepperRefusal extends Error {
  override readonly name = 'PepperRefusal'
}

/** A shorter one could be guessed with the help of the store. */
const minimumPepperLength = 16

/** A key made with any of these works. `pepperForNew` chooses the one for new keys. */
export type Peppers = readonly [Pepper, ...Pepper[]]

/**
 * The pepper from the configuration, or else from the file `pepper` in the folder, which is created on first use (32 random bytes in
 * hexadecimal, mode 0600). Many processes can call this at once: all of them return the same pepper. Without a folder
 * the pepper lives as long as the process. `old`, or else the file `pepper.old`, is the previous pepper, which is being replaced. If the
 * configuration contains the text of such a file, it means the pepper of that file. Throws a `PepperRefusal`, or the file system's own
 * error.
 */
export function loadPeppers(options: PepperLocation): Peppers {
  const peppers = findPeppers(options)
  if (peppers !== undefined) return peppers
  if (options.folder === undefined) return [pepperOf(randomBytes(32), false)]
  createPepperFile(join(options.folder, pepperFileName))
  return loadPeppers(options)
}

interface PepperLocation {
  readonly folder: string | undefined
  readonly given: string | undefined
  readonly old?: string | undefined
}

/** Like `loadPeppers`, but never creates a pepper: `undefined` if there is none yet. */
export function findPeppers({ folder, given, old }: PepperLocation): Peppers | undefined {
  const pepper = given === undefined ? inFile(folder, pepperFileName, false) : ofText(given, false)
  if (pepper === undefined) return undefined
  const before = old === undefined ? inFile(folder, oldPepperFileName, true) : ofText(old, true)
  return before === undefined ? [pepper] : [pepper, before]
}

function ofText(given: string, isOld: boolean): Pepper {
  if (given.length < minimumPepperLength) {
    throw new PepperRefusal(
      `The ${isOld ? 'old ' : ''}key pepper has ${given.length} characters; give at least ${minimumPepperLength} random ones.`,
    )
  }
  // A mounted secret file usually ends with a line feed.
  const text = given.trim()
  return pepperOf(fileText.test(text) ? Buffer.from(text, 'hex') : Buffer.from(given, 'utf8'), isOld)
}

function inFile(folder: string | undefined, name: string, isOld: boolean): Pepper | undefined {
  const path = folder === undefined ? undefined : join(folder, name)
  if (path === undefined || !existsSync(path)) return undefined
  const text = readFileSync(path, 'utf8').trim()
  if (!fileText.test(text)) {
    throw new PepperRefusal(
      `${path} does not hold a pepper (64 hexadecimal digits). Put the file back from a backup: without it no key of this store works.`,
    )
  }
  return pepperOf(Buffer.from(text, 'hex'), isOld)
}

const fileText = /^[0-9a-f]{64}$/

/** HMAC-SHA-256 of a key's secret: 32 bytes. */
export function hashSecret(pepper: Pepper, secret: string): Uint8Array {
  return createHmac('sha256', pepper.secret).update(secret).digest()
}

function pepperOf(secret: Uint8Array, isOld: boolean): Pepper {
  // 48 bits distinguish the few peppers of an installation, and reveal nothing about the secret.
  const pepperId = createHash('sha256')
    .update('property-events pepper')
    .update(secret)
    .digest('hex')
    .slice(0, 12)
  return { pepperId, secret, isOld }
}

/**
 * Writes and flushes the file under another name, then links it. The file never contains half a pepper, and the first one written stays.
 */
function createPepperFile(path: string): void {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, `${randomBytes(32).toString('hex')}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  try {
    linkSync(draft, path)
  } catch (error) {
    if (!existsSync(path)) throw error
  } finally {
    unlinkSync(draft)
  }
}
