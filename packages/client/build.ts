/**
 * Builds the package that is published: plain ES modules with types, without a dependency, into an empty folder.
 *
 *     node packages/client/build.ts <folder>      then      npm pack <folder>
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const here = import.meta.dirname
const root = join(here, '../..')

/** Writes the package's files into `folder`, which is made. */
export function buildPackage(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const project = ['-p', join(here, 'tsconfig.build.json'), '--outDir', folder]
  execFileSync(process.execPath, [compiler, ...project], { stdio: 'inherit' })
  for (const file of filesUnder(folder)) {
    // The compiler rewrites the endings of imports in the modules, but not in their types.
    if (file.endsWith('.d.ts')) writeFileSync(file, withModuleEndings(readFileSync(file, 'utf8')))
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(publishedPackage(), null, 2)}\n`)
  copyFileSync(join(here, 'README.md'), join(folder, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

export function withModuleEndings(types: string): string {
  return types.replaceAll(/(from |import\()(['"])(\.{1,2}\/[^'"]+)\.ts\2/g, '$1$2$3.js$2')
}

function publishedPackage(): object {
  const source: unknown = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))
  if (typeof source !== 'object' || source === null) throw new Error('package.json is not an object')
  const entry = (name: string) => ({ types: `./${name}.d.ts`, default: `./${name}.js` })
  return {
    ...source,
    exports: { '.': entry('index'), './listing': entry('listing/index'), './node': entry('node') },
  }
}

function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
}

if (import.meta.main) {
  const folder = process.argv[2]
  if (folder === undefined) throw new Error('name the folder to build into')
  buildPackage(folder)
}
