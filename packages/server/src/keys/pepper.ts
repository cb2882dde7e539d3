/**
 * The pepper: the secret with which a key's own secret is hashed (D11). A copy of the store alone is of no use for
 * using its keys, or for testing guesses at them.
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
import { oldPepperFileName, pepperFileName } from '../data-folder.ts'

export interface Pepper {
  /** Short hash of the pepper, stored with every key made with it. */
  readonly pepperId: string
  readonly secret: Uint8Array
  /** It is being replaced, and kept for the keys that were made with it. */
  readonly isOld: boolean
}

/** A pepper that cannot be used. `message` is a sentence for the operator that says what to do. */
export class PepperRefusal extends Error {
  override readonly name = 'PepperRefusal'
}

/** A shorter one could be guessed with the help of the store. */
const minimumPepperLength = 16

/** Keys made with any of them work. `pepperForNew` chooses the one for new keys. */
export type Peppers = readonly [Pepper, ...Pepper[]]

/**
 * The pepper that the operator gave, else the one in the file `pepper` of the folder, made on first use (32 random
 * bytes in hexadecimal, mode 0600). Safe from many processes at once: all of them return the same one. Without a folder
 * (a store in memory) it lives as long as the process. Throws a `PepperRefusal`, or the file system's own error.
 *
 * `old`, else the file `pepper.old`, is the previous pepper, which is being replaced.
 *
 * The text of such a file, given as the operator's pepper, means the pepper of that file. Earlier versions took it for
 * a text like any other, so keys made with that text work too.
 */
export function loadPeppers(options: PepperPlace): Peppers {
  const peppers = findPeppers(options)
  if (peppers !== undefined) return peppers
  if (options.folder === undefined) return [pepperOf(randomBytes(32), false)]
  createPepperFile(join(options.folder, pepperFileName))
  return loadPeppers(options)
}

export interface PepperPlace {
  readonly folder: string | undefined
  readonly given: string | undefined
  readonly old?: string | undefined
}

/** As `loadPeppers`, but makes no pepper: `undefined` where there is none yet. */
export function findPeppers({ folder, given, old }: PepperPlace): Peppers | undefined {
  const peppers = given === undefined ? inFile(folder, pepperFileName, false) : ofText(given, false)
  if (peppers === undefined) return undefined
  const before = old === undefined ? inFile(folder, oldPepperFileName, true) : ofText(old, true)
  return [...peppers, ...(before ?? [])]
}

function ofText(given: string, isOld: boolean): Peppers {
  if (given.length < minimumPepperLength) {
    throw new PepperRefusal(
      `The ${isOld ? 'old ' : ''}key pepper has ${given.length} characters; give at least ${minimumPepperLength} random ones.`,
    )
  }
  const asText = pepperOf(Buffer.from(given, 'utf8'), isOld)
  // A secret that is mounted as a file ends with a line feed.
  const text = given.trim()
  return fileText.test(text) ? [pepperOf(Buffer.from(text, 'hex'), isOld), asText] : [asText]
}

function inFile(folder: string | undefined, name: string, isOld: boolean): Peppers | undefined {
  const path = folder === undefined ? undefined : join(folder, name)
  if (path === undefined || !existsSync(path)) return undefined
  const text = readFileSync(path, 'utf8').trim()
  if (!fileText.test(text)) {
    throw new PepperRefusal(
      `${path} does not hold a pepper (64 hexadecimal digits). Put the file back from a backup: without it no key of this store works.`,
    )
  }
  return [pepperOf(Buffer.from(text, 'hex'), isOld)]
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

/** Written and flushed under another name, then linked: the file never holds half a pepper, and the first one stays. */
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
