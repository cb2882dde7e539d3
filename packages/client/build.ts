/**
 * Builds the client as it is published: modules for Node, Deno, Bun and browsers (ESM), the same for `require` (CJS), types for both.
 * Without a dependency, into an empty folder.
 *
 *     node packages/client/build.ts <folder>      or, as archives: npm run pack -- <folder>
 */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { compile, readManifest, releaseMembers, root, writeManifest } from '../../scripts/compile.ts'
import type { Manifest, ReleaseFacts } from '../../scripts/compile.ts'

const here = import.meta.dirname

/** A folder for each format, since the nearest package.json says which of the two a `.js` is, of its types too. */
const formats = {
  esm: { type: 'module', options: [] },
  cjs: {
    type: 'commonjs',
    options: ['--module', 'commonjs', '--moduleResolution', 'bundler', '--verbatimModuleSyntax', 'false'],
  },
} as const

const entries = { '.': 'index', './listing': 'listing/index', './node': 'node' } as const

/** Writes the package's files into `folder`, which is made. */
export function buildPackage(folder: string, release: ReleaseFacts = {}): void {
  mkdirSync(folder, { recursive: true })
  for (const [format, { type, options }] of Object.entries(formats)) {
    compile(join(here, 'tsconfig.build.json'), join(folder, format), options)
    writeManifest(join(folder, format), { type })
  }
  writeManifest(folder, publishedManifest(release))
  copyFileSync(join(here, 'README.md'), join(folder, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

function publishedManifest(release: ReleaseFacts): Manifest {
  // The sources are not published.
  const { version, private: _private, scripts: _scripts, ...source } = readManifest(here)
  const exported = Object.entries(entries).map(([name, file]) => [name, conditionsOf(file)])
  return {
    ...source,
    version,
    // For tools that know no `exports`.
    main: './cjs/index.js',
    types: './cjs/index.d.ts',
    exports: { ...Object.fromEntries(exported), './package.json': './package.json' },
    files: ['cjs', 'esm'],
    ...releaseMembers(release),
  }
}

/** `types` first: of the conditions that fit, the first counts. */
function conditionsOf(file: string) {
  const of = (format: keyof typeof formats) => ({
    types: `./${format}/${file}.d.ts`,
    default: `./${format}/${file}.js`,
  })
  return { import: of('esm'), require: of('cjs') }
}

if (import.meta.main) {
  const folder = process.argv[2]
  if (folder === undefined) throw new Error('name the folder to build into')
  buildPackage(folder)
}
