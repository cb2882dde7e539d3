/**
 * Builds the program as it is published: `property-events`, with our other packages inside it (`bundleDependencies`), so that one
 * archive is enough. JavaScript, because Node strips no types below `node_modules`; what only tests and generators use is left out.
 *
 *     node packages/cli/build.ts <folder>      or, as archives: npm run pack -- <folder>
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, extname, join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  compile,
  filesUnder,
  readManifest,
  releaseMembers,
  root,
  writeManifest,
} from '../../scripts/compile.ts'
import type { Manifest, ReleaseFacts } from '../../scripts/compile.ts'
import { joinDocuments } from '../server/src/http/openapi/text-documents.ts'

const here = import.meta.dirname
const packages = join(here, '..')

/** Ours that the program is made of. */
const bundled = ['client', 'demo', 'protocol', 'server', 'tables'] as const
/** Where the program begins. Where its threads begin is read from the modules that start them. */
const beginning = 'cli/src/main.js'

/** Writes the package's files into `folder`, which is made. */
export function buildProgram(folder: string, release: ReleaseFacts = {}): void {
  const compiled = mkdtempSync(join(tmpdir(), 'property-events-build-'))
  try {
    compile(join(here, 'tsconfig.build.json'), compiled)
    const { modules, needed } = reachedFrom(compiled)
    for (const module of modules) copyInto(folder, compiled, module)
    for (const name of ['cli', ...bundled]) copyData(folder, name)
    for (const name of ['bin', 'carried-node']) {
      cpSync(join(here, name), join(folder, name), { recursive: true })
    }
    cpSync(join(packages, 'console/built'), join(folder, 'console'), { recursive: true })
    const documents = join(
      folder,
      'node_modules/@property-events/server/src/http/openapi/reference/documents.md',
    )
    writeFileSync(documents, joinDocuments(pathToFileURL(`${root}/`)))
    const door = join(folder, 'bin/property-events.mjs')
    writeFileSync(door, readFileSync(door, 'utf8').replace('../src/main.ts', '../src/main.js'))
    writeManifests(folder, needed, release)
  } finally {
    rmSync(compiled, { recursive: true })
  }
  for (const name of ['LICENSE', 'CHANGELOG.md']) copyFileSync(join(root, name), join(folder, name))
  copyFileSync(join(here, 'README.md'), join(folder, 'README.md'))
}

/** `cli/src/main.js` lies at `src/main.js`, `server/src/index.js` below `node_modules`. */
function placeOf(path: string): string {
  const [name = '', ...rest] = path.split(sep)
  return name === 'cli' ? join(...rest) : join('node_modules/@property-events', name, ...rest)
}

function copyInto(folder: string, from: string, path: string): void {
  const target = join(folder, placeOf(path))
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(join(from, path), target)
}

/** What the modules read when they run: SQL, JSON and whatever else stands beside them. */
function copyData(folder: string, name: string): void {
  for (const part of ['src', 'schemas', 'data', 'photographs']) {
    const source = join(packages, name, part)
    if (!existsSync(source)) continue
    for (const file of filesUnder(source)) {
      if (extname(file) !== '.ts') copyInto(folder, packages, relative(packages, file))
    }
  }
}

/** As the compiler prints them, a statement a line; and the module that a thread begins with. */
const importing =
  /(?:^(?:import|export)\b[^'"\n]*\bfrom |^import |\bimport\(|\bnew Worker\(new URL\()['"]([^'"\n]+)['"]/gm

interface Reached {
  /** Below `packages`, as they were compiled. */
  readonly modules: ReadonlySet<string>
  /** Packages of others. */
  readonly needed: ReadonlySet<string>
}

/**
 * Follows imports and beginnings of threads. A text that looks like one, as in an example of the documents, leads to a module that is
 * there anyway. Throws for a module that the compiler has not made.
 */
function reachedFrom(compiled: string): Reached {
  const modules = new Set<string>()
  const needed = new Set<string>()
  const waiting = [beginning]
  for (let module = waiting.pop(); module !== undefined; module = waiting.pop()) {
    if (modules.has(module)) continue
    modules.add(module)
    const text = readFileSync(join(compiled, module), 'utf8')
    for (const [, specifier = ''] of text.matchAll(importing)) note(module, specifier)
  }
  return { modules, needed }

  function note(module: string, specifier: string): void {
    if (specifier.startsWith('.')) {
      // JSON and what is plain JavaScript already are copied as they are.
      if (specifier.endsWith('.js')) waiting.push(join(dirname(module), specifier))
    } else if (specifier.startsWith('@property-events/')) waiting.push(entryOf(specifier))
    else if (!specifier.startsWith('node:')) needed.add(packageOf(specifier))
  }
}

/** `@property-events/client/listing` as its package exports it. */
function entryOf(specifier: string): string {
  const [, name = '', ...rest] = specifier.split('/')
  const { exports } = readManifest(join(packages, name))
  const entry: unknown = exportsOf(exports)[['.', ...rest].join('/')]
  if (typeof entry !== 'string') throw new Error(`${specifier} is not exported`)
  return join(name, builtName(entry))
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

function builtName(path: string): string {
  return path.replace(/\.ts$/, '.js')
}

function exportsOf(exports: unknown): Readonly<Record<string, unknown>> {
  return typeof exports === 'object' && exports !== null ? { ...exports } : {}
}

function writeManifests(folder: string, needed: ReadonlySet<string>, release: ReleaseFacts): void {
  const own = readManifest(here)
  const { version } = own
  const versions = versionsOf(needed)
  for (const name of bundled) {
    const { exports } = readManifest(join(packages, name))
    const built = Object.entries(exportsOf(exports)).map(([entry, path]) => [entry, builtName(String(path))])
    writeManifest(join(folder, 'node_modules/@property-events', name), {
      name: `@property-events/${name}`,
      version,
      license: own['license'],
      type: 'module',
      exports: Object.fromEntries(built),
    })
  }
  const ours = bundled.map((name) => `@property-events/${name}`)
  writeManifest(folder, {
    name: 'property-events',
    version,
    description: own['description'],
    keywords: ['property', 'real estate', 'listings', 'event feed'],
    license: own['license'],
    type: 'module',
    bin: own['bin'],
    exports: { './package.json': './package.json' },
    files: ['bin', 'carried-node', 'console', 'src', 'CHANGELOG.md'],
    // Of the older ones that still work nothing runs the tests.
    engines: { node: '>=24' },
    dependencies: { ...Object.fromEntries(ours.map((name) => [name, version])), ...versions },
    bundleDependencies: ours,
    ...releaseMembers(release),
  })
}

/** Exactly those that are tested here. */
function versionsOf(needed: ReadonlySet<string>): Manifest {
  const found = ['cli', ...bundled].flatMap((name) => {
    const { dependencies } = readManifest(join(packages, name))
    return Object.entries(exportsOf(dependencies)).filter(([dependency]) => needed.has(dependency))
  })
  const versions = Object.fromEntries(found.toSorted(([one], [other]) => (one < other ? -1 : 1)))
  const lacking = [...needed].filter((name) => !Object.hasOwn(versions, name))
  if (lacking.length > 0)
    throw new Error(`the program imports what no package.json names: ${lacking.join(', ')}`)
  return versions
}

if (import.meta.main) {
  const folder = process.argv[2]
  if (folder === undefined) throw new Error('name the folder to build into')
  buildProgram(folder)
}
