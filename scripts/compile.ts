/** What the packages are built with: the compiler, and what it leaves undone in its output. */
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..')

/** What a release says of all packages. */
export interface ReleaseFacts {
  /** Address of the repository that the release is made from: with it the package can be published with provenance. */
  readonly repository?: string | undefined
}

/** Writes what the compiler makes of a project into `folder`, which is made. Throws when it finds a fault. */
export function compile(project: string, folder: string, options: readonly string[] = []): void {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '-p', project, '--outDir', folder, ...options]
  execFileSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  for (const file of filesUnder(folder)) {
    if (file.endsWith('.d.ts')) rewrite(file, withModuleEndings)
    else if (file.endsWith('.js')) rewrite(file, withThreadEndings)
  }
}

/** The compiler rewrites the endings of imports in the modules, but not in their types. */
export function withModuleEndings(types: string): string {
  return types.replaceAll(/(from |import\()(['"])(\.{1,2}\/[^'"]+)\.ts\2/g, '$1$2$3.js$2')
}

/** Nor where a module is the beginning of a thread: `new URL('./writer.ts', import.meta.url)`. */
export function withThreadEndings(module: string): string {
  return module.replaceAll(
    /(new URL\((['"])\.\/[\w-]+)\.ts\2, import\.meta\.url\)/g,
    '$1.js$2, import.meta.url)',
  )
}

function rewrite(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, 'utf8')
  const changed = change(text)
  if (changed !== text) writeFileSync(file, changed)
}

/** Paths of all files below a folder. */
export function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
}

export type Manifest = Readonly<Record<string, unknown>>

export function readManifest(folder: string): Manifest {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (typeof manifest !== 'object' || manifest === null) throw new Error(`${folder} has no package.json`)
  return { ...manifest }
}

export function writeManifest(folder: string, manifest: Manifest): void {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/**
 * What every published package says besides. Provenance needs the address of the repository, and npm refuses to publish with it
 * anywhere but in a CI that can attest it: so both are there or neither.
 */
export function releaseMembers({ repository }: ReleaseFacts): Manifest {
  if (repository === undefined) return { publishConfig: { access: 'public' } }
  return {
    repository: { type: 'git', url: repository },
    publishConfig: { access: 'public', provenance: true },
  }
}
