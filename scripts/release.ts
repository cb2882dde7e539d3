/**
 * Prepares a release: looks whether the tree and the changelog are ready, sets the version everywhere, makes the archives, and prints
 * what is left to do by hand. Publishes nothing.
 *
 *     npm run release -- 1.2.3 [--dry-run] [--repository <address>]
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './compile.ts'
import { archiveLine, packAll } from './pack.ts'
import { planRelease } from './release-plan.ts'

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean' }, repository: { type: 'string' } },
  allowPositionals: true,
})
process.exitCode = release(positionals, values['dry-run'] === true, values.repository)

function release(
  [version, ...more]: readonly string[],
  dryRun: boolean,
  repository: string | undefined,
): number {
  if (version === undefined || more.length > 0) {
    return refuse(['Name the version: npm run release -- 1.2.3 --dry-run'])
  }
  const plan = planRelease(version, new Date().toISOString().slice(0, 10), (path) =>
    readFileSync(join(root, path), 'utf8'),
  )
  const faults = [...(plan.kind === 'faults' ? plan.faults : []), ...treeFaults(version)]
  if (plan.kind === 'faults' || faults.length > 0) return refuse(faults)
  const { files, notes } = plan
  say(`Version ${version}: ${Object.keys(files).join(', ')}\n\n${notes}\n\n`)
  if (dryRun) {
    const folder = mkdtempSync(join(tmpdir(), 'property-events-release-'))
    try {
      for (const archive of packAll(folder, { version, repository })) say(archiveLine(archive))
    } finally {
      rmSync(folder, { recursive: true })
    }
    say(
      '\nNothing was changed. Without --dry-run the files above are written, and the archives into release/.\n',
    )
    return 0
  }
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text)
  const archives = packAll(join(root, 'release', version), { version, repository })
  for (const archive of archives) say(archiveLine(archive))
  say(`
Next, in this order:
  npm run check && npm test
  git commit --all --message "Release ${version}" && git tag v${version}
${archives.map(({ path }) => `  npm publish ${path}`).join('\n')}
`)
  if (repository === undefined)
    say('Without --repository the archives can only be published without provenance.\n')
  return 0
}

function treeFaults(version: string): readonly string[] {
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const changed = git('status', '--porcelain')
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD')
  return [
    ...(changed === '' ? [] : [`The tree has changes that are not committed:\n${changed}`]),
    ...(branch === 'main' ? [] : [`This is the branch ${branch}. Releases are made from main.`]),
    ...(git('tag', '--list', `v${version}`) === '' ? [] : [`There is a tag v${version} already.`]),
  ]
}

function refuse(sentences: readonly string[]): number {
  for (const sentence of sentences) process.stderr.write(`${sentence}\n`)
  return 1
}

function say(text: string): void {
  process.stdout.write(text)
}
