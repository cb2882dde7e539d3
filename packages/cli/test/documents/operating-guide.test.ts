/** The operating guide, followed as it stands on a machine that has only what Debian has: from nothing to a restore drill. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { installedPostgresFolders } from '../../../server/test/postgres/postgres-programs.ts'
import { finished, removeFolder, temporaryFolder } from '../support/program.ts'

/** What the guide takes for granted, or this test needs to shield the machine from it. */
const programs = [
  'nginx',
  'psql',
  'pg_dump',
  'openssl',
  'curl',
  'runuser',
  'setpriv',
  'useradd',
  'unshare',
  'ip',
  'mount',
]
const path = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'].join(delimiter)

/**
 * Folders that the guide writes to are covered: what it changes is gone with the namespaces, and processes that it leaves too. A network
 * of its own has the guide's ports free.
 */
const cover = `set -eu
mount -t tmpfs tmpfs "$1"
for folder in etc var opt srv usr/local; do
  name=$(echo "$folder" | tr / -)
  mkdir "$1/$name" "$1/$name.work"
  mount -t overlay overlay -o "lowerdir=/$folder,upperdir=$1/$name,workdir=$1/$name.work" "/$folder"
done
mount -t tmpfs tmpfs /run
ip link set lo up
shift
exec "$@"`
const namespaces = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc']

function inNamespaces(folder: string, command: readonly string[]): readonly string[] {
  return [...namespaces, '/bin/sh', '-c', cover, 'cover', folder, ...command]
}

function missing(folder: string): string | false {
  const gone = programs.filter(
    (name) => !path.split(delimiter).some((place) => existsSync(join(place, name))),
  )
  if (gone.length > 0)
    return `needs ${gone.join(', ')} (Debian: apt-get install nginx-light postgresql openssl curl iproute2)`
  if (process.getuid?.() !== 0) return 'the guide has to be followed as root'
  if (installedPostgresFolders().length === 0 || spawnSync('id', ['postgres']).status !== 0)
    return 'needs PostgreSQL and its user postgres (Debian: apt-get install postgresql)'
  const { status } = spawnSync('unshare', [...inNamespaces(folder, ['true'])], { env: { PATH: path } })
  return status === 0 ? false : 'this machine lets nobody make namespaces with overlays'
}

describe('the operating guide', () => {
  const folder = temporaryFolder()
  after(() => removeFolder(folder))
  const skip = process.platform === 'linux' ? missing(folder) : 'needs Linux'

  it(
    'leads from nothing to two nodes behind nginx with TLS, and to restores that have every event (P7)',
    { skip },
    async (t) => {
      const follow = join(import.meta.dirname, '../support/guide/follow.ts')
      const child = spawn('unshare', [...inNamespaces(folder, [process.execPath, follow])], {
        env: { ...process.env, PATH: path },
        stdio: ['ignore', 'pipe', 'pipe'],
        signal: t.signal,
        killSignal: 'SIGKILL',
      })
      const { code, stdout, stderr } = await finished(child)
      assert.equal(code, 0, `${stdout}\n${stderr}`)
      assert.match(stdout, /followed to its end/)
      t.diagnostic(stdout)
    },
  )
})
