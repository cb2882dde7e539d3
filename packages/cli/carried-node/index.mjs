/**
 * The Node that comes with the packages: where it lies, and whether it is the one that is known here. Plain JavaScript for any Node from
 * 20, because it has to run before that Node may. docs/supply-chain.md says where the checksums are from.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const checksumsFile = fileURLToPath(new URL('checksums.json', import.meta.url))

export function readChecksums() {
  return JSON.parse(readFileSync(checksumsFile, 'utf8'))
}

/** The carried Node of this machine, which may need another C library; `undefined` where none is installed. */
export function findCarried() {
  const known = readChecksums().platforms[`${process.platform} ${process.arch}`]
  if (known === undefined) return undefined
  try {
    const manifest = createRequire(import.meta.url).resolve(`${known.package}/package.json`)
    const path = join(dirname(manifest), known.program)
    if (!existsSync(path)) return undefined
    const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
    return { path, version, known, stamp: join(dirname(manifest), '..', '.node-checked') }
  } catch {
    return undefined
  }
}

/**
 * Why this Node must not be started, and what to do; `undefined`: it is the one that is known. What was read once is
 * not read again (150 MB, some 0.6 s, measured manually) while its size, times and place on the disk stay the same,
 * unless `again` asks for it. Where nothing can be written beside the packages, it is read at each start.
 */
export function faultOfCarried({ path, version, known, stamp }, { again = false } = {}) {
  if (version !== known.version) {
    return {
      detail: `${path} is Node ${version}, but the checksums are those of Node ${known.version}.`,
      remedy:
        'Install what package-lock.json names: npm ci --ignore-scripts. If the version was raised on purpose: npm run node:renew.',
    }
  }
  const seen = `${known.sha256} ${identityOf(path)}\n`
  if (!again && textOf(stamp) === seen) return undefined
  const sha256 = sha256Of(path)
  if (sha256 !== known.sha256) {
    return {
      detail: `${path} is not the expected Node ${known.version}: its SHA-256 is ${sha256}, and should be ${known.sha256}.`,
      remedy:
        'Do not start it. Delete node_modules and install again: npm ci --ignore-scripts. If the new one is no other, report it (SECURITY.md).',
    }
  }
  keep(stamp, seen)
  return undefined
}

/** The SHA-256 of a file, in hexadecimal, read in pieces. */
export function sha256Of(path) {
  const hash = createHash('sha256')
  const piece = Buffer.allocUnsafe(2 ** 20)
  const file = openSync(path, 'r')
  try {
    for (;;) {
      const read = readSync(file, piece)
      if (read === 0) return hash.digest('hex')
      hash.update(piece.subarray(0, read))
    }
  } finally {
    closeSync(file)
  }
}

/** Changes whenever the file's bytes are written, whoever sets its modification time back. */
function identityOf(path) {
  const { size, mtimeNs, ctimeNs, ino } = statSync(path, { bigint: true })
  return `${size} ${mtimeNs} ${ctimeNs} ${ino}`
}

function textOf(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** In one step, since several programs may start at once. */
function keep(path, text) {
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, text)
    renameSync(draft, path)
  } catch {
    rmSync(draft, { force: true })
  }
}
