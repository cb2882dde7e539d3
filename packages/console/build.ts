/**
 * Builds the console into `built/`, which is committed: `npm run console`. The same sources make the same bytes on every machine.
 *
 *     node packages/console/build.ts [folder]
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { build } from 'esbuild'
import type { BuildOptions, Metafile, Plugin } from 'esbuild'

const here = import.meta.dirname
const root = join(here, '../..')
const [source, folder] = [join(here, 'src'), join(here, 'built')]

/** Further modules that go into `console.js`: small ones that most views use. */
const sharedByViews: readonly string[] = [
  'parts/age.tsx',
  'parts/answer.tsx',
  'parts/event-type.tsx',
  'parts/field.tsx',
  'parts/filters.tsx',
  'parts/view-link.tsx',
  'parts/table.tsx',
  'service/operations/keys.ts',
  'list/jumps.ts',
  'parts/number-tiles.tsx',
  'service/operations/records.ts',
  'service/use-answer.ts',
  'views/sign-in/action-failure.tsx',
].map((path) => `packages/console/src/${path}`)

/** The built files by name, in the order of the alphabet. */
export type BuiltFiles = Readonly<Record<string, Uint8Array>>

const options = {
  absWorkingDir: root,
  entryPoints: [join(source, 'main.tsx')],
  // All styles are small together, and a view is never shown without its own: one file has them all.
  loader: { '.css': 'empty' },
  bundle: true,
  write: false,
  metafile: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  // The browsers that have light-dark(), nesting, layers and Intl.Segmenter: nothing is made longer for older ones.
  target: ['chrome123', 'firefox125', 'safari17.5'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  charset: 'utf8',
  legalComments: 'none',
  define: { 'process.env.NODE_ENV': '"production"' },
  // What stands in the folder above or in the environment changes nothing.
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  logLevel: 'warning',
} as const satisfies BuildOptions

/** What `built/` holds. Writes nothing. */
export async function buildConsole(): Promise<BuiltFiles> {
  const outfile = join(folder, 'console.js')
  const styles = await build({ ...options, outfile, loader: {} })
  const parts = await buildParts()
  const whole = await build({
    ...options,
    stdin: { contents: entryFor(parts.uses), resolveDir: source, loader: 'ts' },
    entryPoints: [],
    outfile,
    plugins: [loadsParts(parts.names)],
  })
  const encoder = new TextEncoder()
  const inputs = { ...whole.metafile.inputs, ...parts.inputs }
  return {
    ...Object.fromEntries(parts.texts.map(([name, text]) => [name, encoder.encode(text)])),
    'console.js': whole.outputFiles[0]?.contents ?? new Uint8Array(),
    'console.css': styles.outputFiles.find(({ path }) => path.endsWith('.css'))?.contents ?? new Uint8Array(),
    'index.html': readFileSync(join(source, 'page.html')),
    'licences.txt': encoder.encode(licencesOf(inputs)),
  }
}

interface Parts {
  readonly texts: readonly (readonly [name: string, text: string])[]
  /** The file of each view, by the path of its source. */
  readonly names: ReadonlyMap<string, string>
  /** What the parts use of `console.js`: the names, by module. */
  readonly uses: ReadonlyMap<string, readonly string[]>
  readonly inputs: Metafile['inputs']
}

/**
 * A file for each view, loaded when it is opened. Whatever the page has from its start is not in them: they import it from `console.js`, in
 * place of the dozens of tiny files that esbuild would cut it into. A file's name changes with its text, so an open page never gets a view
 * of another build.
 */
async function buildParts(): Promise<Parts> {
  const entryPoints = [join(source, 'main.tsx'), ...sharedByViews]
  const start = await build({ ...options, entryPoints, outdir: folder, plugins: [loadsParts(new Map())] })
  const atStart = new Set(Object.keys(start.metafile.inputs).map((path) => join(root, path)))
  const listed = readFileSync(join(source, 'views/view-route.tsx'), 'utf8').matchAll(/import\('\.\/(.+?)'\)/g)
  const views = new Set([...listed].map(([, path = '']) => join(source, 'views', path)))
  const parts = await build({
    ...options,
    entryPoints: [...views],
    outdir: folder,
    splitting: true,
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    plugins: [leavesOut(atStart)],
  })
  const uses = new Map<string, readonly string[]>()
  const texts: (readonly [name: string, text: string])[] = []
  for (const { path, text } of parts.outputFiles) {
    for (const [, names = '', module = ''] of text.matchAll(fromStart)) {
      const imported = names.split(',').map((one) => one.replace(/ as .*/, ''))
      uses.set(module, [...new Set([...(uses.get(module) ?? []), ...imported])].sort())
    }
    texts.push([relative(folder, path), await namedOnce(text)])
  }
  const names = Object.entries(parts.metafile.outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint === undefined ? [] : [[join(root, entryPoint), `./${basename(path)}`] as const],
  )
  return { texts, names: new Map(names), uses, inputs: parts.metafile.inputs }
}

/** The text of a part, in which each name of the start is imported once: esbuild gives it another name in every module. */
async function namedOnce(text: string): Promise<string> {
  const names = [...text.matchAll(fromStart)].flatMap(([, some = '']) => some.split(','))
  const imported = new Set(names.map((one) => one.replace(/ as .*/, '')))
  const { outputFiles } = await build({
    ...options,
    entryPoints: [],
    stdin: { contents: text.replaceAll(fromStart, 'import{$1}from"at-start";'), loader: 'js' },
    outfile: join(folder, 'part.js'),
    plugins: [
      {
        name: 'imports each name once',
        setup(building) {
          building.onResolve({ filter: /^at-start$/ }, ({ path }) => ({ path, namespace: path }))
          building.onResolve({ filter: /^\.\// }, ({ path }) => ({ path, external: true }))
          building.onLoad({ filter: /./, namespace: 'at-start' }, () => ({
            contents: `export { ${[...imported].join(', ')} } from './console.js'`,
          }))
        },
      },
    ],
  })
  return outputFiles[0]?.text ?? ''
}

/** As `leavesOut` and esbuild write an import of the start. */
const fromStart = /import\{([^}]*)\}from"at-start:([^"]*)";/g

/** The modules of the start, for which a part asks `console.js`. */
function leavesOut(atStart: ReadonlySet<string>): Plugin {
  return {
    name: 'leaves out what the page has from its start',
    setup(building) {
      building.onResolve({ filter: /./ }, async ({ path, kind, resolveDir, importer, pluginData }) => {
        if (kind !== 'import-statement' || pluginData === 'resolving') return undefined
        const found = await building.resolve(path, { kind, resolveDir, importer, pluginData: 'resolving' })
        // Styles are empty here: nothing has to be asked for.
        return atStart.has(found.path) && !found.path.endsWith('.css')
          ? { path: `at-start:${relative(root, found.path)}`, external: true }
          : undefined
      })
    },
  }
}

/** `import()` of a view loads its file. */
function loadsParts(names: ReadonlyMap<string, string>): Plugin {
  return {
    name: 'loads views when they are opened',
    setup(building) {
      building.onResolve({ filter: /./ }, ({ path, kind, resolveDir }) =>
        kind === 'dynamic-import'
          ? { path: names.get(join(resolveDir, path)) ?? path, external: true }
          : undefined,
      )
    },
  }
}

/** The page, and the exports that its parts use. Throws if two modules export the same name. */
function entryFor(uses: Parts['uses']): string {
  const names = [...uses.values()].flat()
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`Two modules of the console export ${twice}: rename one.`)
  const lines = [...uses]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, all]) => `export { ${all.join(', ')} } from '${join(root, path)}'`)
  return ["import './main.tsx'", ...lines].join('\n')
}

/** The licence of every package that has a line in the script or the style. */
function licencesOf(inputs: Metafile['inputs']): string {
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
  const target = process.argv[2] ?? folder
  const built = await buildConsole()
  mkdirSync(target, { recursive: true })
  for (const name of readdirSync(target)) if (/\.(?:js|css)$/.test(name)) rmSync(join(target, name))
  for (const [name, bytes] of Object.entries(built)) writeFileSync(join(target, name), bytes)
}
