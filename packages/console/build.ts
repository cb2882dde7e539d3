/**
 * Builds the console into `built/`, which is committed: `npm run console`. The same sources make the same bytes on every machine.
 *
 *     node packages/console/build.ts [folder]
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import type { Metafile } from 'esbuild'

const here = import.meta.dirname
const root = join(here, '../..')

/** The built files by name, in the order of the alphabet. */
export type BuiltFiles = Readonly<Record<string, Uint8Array>>

/** What `built/` holds. Writes nothing. */
export async function buildConsole(): Promise<BuiltFiles> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: { console: join(here, 'src/main.tsx') },
    outdir: join(here, 'built'),
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    // The browsers that have light-dark(), nesting and layers: nothing is made longer for older ones.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    // What stands in the folder above or in the environment changes nothing.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    logLevel: 'warning',
  })
  const files = result.outputFiles.map(({ path, contents }) => [
    relative(join(here, 'built'), path),
    contents,
  ])
  const encoder = new TextEncoder()
  return {
    ...Object.fromEntries(files),
    'index.html': readFileSync(join(here, 'src/page.html')),
    'licences.txt': encoder.encode(licencesOf(result.metafile)),
  }
}

/** The licence of every package that has a line in the script or the style. */
function licencesOf({ inputs }: Metafile): string {
  const folders = Object.keys(inputs)
    .map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0])
    .filter((folder) => folder !== undefined)
  return [...new Set(folders)].sort().map(licenceOf).join('\n\n')
}

function licenceOf(folder: string): string {
  const { name, version }: { name: string; version: string } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8'),
  )
  const licence = readFileSync(join(root, folder, 'LICENSE'), 'utf8')
    .replaceAll('\r\n', '\n')
    .trim()
  return `${name} ${version}\n\n${licence}\n`
}

if (import.meta.main) {
  const folder = process.argv[2] ?? join(here, 'built')
  mkdirSync(folder, { recursive: true })
  for (const [name, bytes] of Object.entries(await buildConsole())) writeFileSync(join(folder, name), bytes)
}
