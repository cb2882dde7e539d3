/**
 * Makes the plugin for WordPress as a site installs it, and prints its SHA-256:
 *
 *     npm run wordpress-zip -- <folder>
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { root } from './compile.ts'
import { archiveLine } from './pack.ts'
import type { Archive } from './pack.ts'
import { storedZip } from './stored-zip.ts'
import type { ZippedFile } from './stored-zip.ts'

const name = 'property-events'
const plugin = join(root, 'examples/wordpress', name)
/** The feed's own files, which the plugin carries as they are. */
const library = ['PropertyFeed.php', 'PropertyListing.php', 'PropertyWebhook.php', 'CodeNames.php']

/** Every file of the plugin, below the folder `property-events`. */
export function pluginFiles(): readonly ZippedFile[] {
  const version = versionOf(readFileSync(join(root, 'package.json'), 'utf8'))
  const own = readdirSync(plugin, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const inside = relative(plugin, path).split(sep).join('/')
      return { path: `${name}/${inside}`, bytes: stamped(inside, readFileSync(path), version) }
    })
  const carried = library.map((file) => ({
    path: `${name}/lib/${file}`,
    bytes: readFileSync(join(root, 'examples/php', file)),
  }))
  return [...own, ...carried, { path: `${name}/LICENSE`, bytes: readFileSync(join(root, 'LICENSE')) }]
}

/** Writes the zip into `folder`, which is made. The same sources make the same bytes. */
export function makePluginZip(folder: string): Archive {
  mkdirSync(folder, { recursive: true })
  const bytes = storedZip(pluginFiles())
  const path = join(resolve(folder), `${name}-wordpress.zip`)
  writeFileSync(path, bytes)
  return { path, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

/** The version stands where WordPress looks for it. */
function stamped(path: string, bytes: Buffer, version: string): Buffer {
  const text = bytes.toString()
  if (path === 'readme.txt') return Buffer.from(text.replace(/^(Stable tag: ).*$/m, `$1${version}`))
  if (path !== `${name}.php`) return bytes
  const versioned = text
    .replace(/^( \* Version: ).*$/m, `$1${version}`)
    .replace(/^(const VERSION = ').*(';)$/m, `$1${version}$2`)
  return Buffer.from(versioned)
}

function versionOf(manifest: string): string {
  const value: unknown = JSON.parse(manifest)
  return typeof value === 'object' && value !== null && 'version' in value ? String(value.version) : ''
}

if (import.meta.main) {
  const [folder, ...more] = process.argv.slice(2)
  if (folder === undefined || more.length > 0) {
    process.stderr.write('Name the folder for the zip: npm run wordpress-zip -- ../plugin\n')
    process.exit(2)
  }
  process.stdout.write(archiveLine(makePluginZip(folder)))
}
