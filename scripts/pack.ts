/**
 * Makes the archives that are published, and prints the SHA-256 of each:
 *
 *     npm run pack -- <folder> [client|program] [--repository <address>]
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildProgram } from '../packages/cli/build.ts'
import { buildPackage } from '../packages/client/build.ts'
import type { ReleaseFacts } from './compile.ts'

export interface Archive {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

const builders = { client: buildPackage, program: buildProgram } as const

const packages = ['client', 'program'] as const

/** Builds the packages and writes their archives into `folder`, which is made. */
export function packAll(
  folder: string,
  release: ReleaseFacts = {},
  wanted: readonly (keyof typeof builders)[] = packages,
): readonly Archive[] {
  mkdirSync(folder, { recursive: true })
  return wanted.map((name) => packBuilt(builders[name], folder, release))
}

/** The archive of one package. */
export function packBuilt(
  build: (folder: string, release: ReleaseFacts) => void,
  folder: string,
  release: ReleaseFacts = {},
): Archive {
  const built = mkdtempSync(join(tmpdir(), 'property-events-pack-'))
  try {
    build(built, release)
    const printed = npm(['pack', built, '--json', '--pack-destination', resolve(folder)])
    const path = join(resolve(folder), fileNameIn(JSON.parse(printed)))
    const archive = readFileSync(path)
    return { path, bytes: archive.length, sha256: createHash('sha256').update(archive).digest('hex') }
  } finally {
    rmSync(built, { recursive: true })
  }
}

function fileNameIn(printed: unknown): string {
  const first: unknown = Array.isArray(printed) ? printed[0] : Object.values(Object(printed))[0]
  if (typeof first === 'object' && first !== null && 'filename' in first) {
    // Some versions of npm write the scope with its slash.
    return String(first.filename).replace('@', '').replace('/', '-')
  }
  throw new Error('npm pack did not name its archive')
}

/** The npm that started this, or the machine's own. What it says goes to stderr. */
function npm(args: readonly string[]): string {
  const own = process.env['npm_execpath']
  const [command, before] = own === undefined ? ['npm', []] : [process.execPath, [own]]
  return execFileSync(command, [...before, ...args, '--ignore-scripts', '--loglevel=error'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: own === undefined && process.platform === 'win32',
  })
}

export function archiveLine({ path, bytes, sha256 }: Archive): string {
  return `${sha256}  ${path}  (${(bytes / 1e6).toFixed(2)} MB)\n`
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { repository: { type: 'string' } },
    allowPositionals: true,
  })
  const [folder, name, ...more] = positionals
  const wanted = packages.filter((one) => name === undefined || name === one)
  if (folder === undefined || more.length > 0 || wanted.length === 0) {
    process.stderr.write(
      'Name the folder for the archives, and client or program for one of them alone: npm run pack -- ../packages client\n',
    )
    process.exit(2)
  }
  for (const archive of packAll(folder, values, wanted)) process.stdout.write(archiveLine(archive))
}
