/** What the reader of the tutorial clones: this project as it lies here, changes that are not committed included. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../documents.ts'

/** Not part of the project, or too large for a copy that only the tutorial reads. */
const leftOut = /^(?:node_modules|\.git|data|isolate-.*|.*\.log)$/

/** Makes a repository in the folder, which must not exist yet. */
export function makeCloneSource(folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const path of projectFiles()) {
    if (!existsSync(join(root, path))) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(root, path), join(folder, path))
  }
  const git = (...args: readonly string[]): void => {
    const identity = [
      '-c',
      'user.name=Tests',
      '-c',
      'user.email=tests@example.com',
      '-c',
      'commit.gpgsign=false',
    ]
    const { status, stderr } = spawnSync('git', [...identity, ...args], { cwd: folder })
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${String(stderr)}`)
  }
  git('init', '--quiet')
  git('add', '--all', '--force')
  git('commit', '--quiet', '--message', 'The project as it is tested')
}

function projectFiles(): readonly string[] {
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  })
  if (listed.status === 0)
    return String(listed.stdout)
      .split('\0')
      .filter((path) => path !== '')
  // From an archive, without a repository.
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !path.split('/').some((part) => leftOut.test(part)))
}

/**
 * The packages that are installed here in place of those that the clone would download: links to them, so that nothing the clone does
 * reaches what they lead to.
 */
export function lendPackages(clone: string): void {
  const from = join(root, 'node_modules')
  const to = join(clone, 'node_modules')
  mkdirSync(to)
  for (const name of readdirSync(from)) {
    if (name !== '.installed') symlinkSync(join(from, name), join(to, name))
  }
  const lock = createHash('sha256')
    .update(readFileSync(join(clone, 'package-lock.json')))
    .digest('hex')
  writeFileSync(join(to, '.installed'), `${lock} everything`)
}
