/** `npm run release`: what it changes, and what it wants to see first. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { planRelease, releasedFiles } from '../../../scripts/release-plan.ts'
import { root } from './support/documents.ts'

const changelog =
  '# Changelog\n\nWhat a user notices.\n\n## Unreleased\n\n- Something new.\n\n## 0.0.9 (2026-01-01)\n\n- Old.\n'
const texts = new Map(releasedFiles.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
const current = (JSON.parse(texts.get('package.json') ?? '') as { version: string }).version
texts.set('CHANGELOG.md', changelog)

const plan = (version: string, changed: Readonly<Record<string, string>> = {}) =>
  planRelease(version, '2026-11-22', (path) => changed[path] ?? texts.get(path) ?? '')

describe('a release', () => {
  it('sets its version in every package and between them, and in no package of others', () => {
    const planned = plan('7.8.9')
    assert.equal(planned.kind, 'plan')
    assert.ok(planned.kind === 'plan')
    assert.deepEqual(Object.keys(planned.files).toSorted(), releasedFiles.toSorted())
    for (const [path, text] of Object.entries(planned.files)) {
      if (!path.endsWith('package.json')) continue
      const manifest = JSON.parse(text) as {
        version: string
        dependencies?: Readonly<Record<string, string>>
      }
      assert.equal(manifest.version, '7.8.9', path)
      for (const [name, version] of Object.entries(manifest.dependencies ?? {})) {
        assert.equal(version === '7.8.9', name.startsWith('@property-events/'), `${path}: ${name}`)
      }
      assert.equal(text.replaceAll('7.8.9', current), texts.get(path), path)
    }
    const [before, after] = [texts.get('package-lock.json') ?? '', planned.files['package-lock.json'] ?? '']
    const others = (lock: string) =>
      Object.entries((JSON.parse(lock) as { packages: Readonly<Record<string, unknown>> }).packages).filter(
        ([path]) => path !== '' && !path.startsWith('packages/'),
      )
    assert.deepEqual(others(after), others(before))
    assert.equal((JSON.parse(after) as { version: string }).version, '7.8.9')
    assert.match(after, /"packages\/cli": \{\s+"name": "@property-events\/cli",\s+"version": "7\.8\.9"/)
  })

  it('gives the changes of the changelog its name and day, and leaves room for the next ones', () => {
    const planned = plan('7.8.9')
    assert.ok(planned.kind === 'plan')
    assert.equal(planned.notes, '- Something new.')
    assert.match(
      planned.files['CHANGELOG.md'] ?? '',
      /## Unreleased\n\nNothing yet\.\n\n## 7\.8\.9 \(2026-11-22\)\n\n- Something new\.\n\n## 0\.0\.9/,
    )
  })

  const faultsOf = (version: string, changed: Readonly<Record<string, string>> = {}) => {
    const planned = plan(version, changed)
    return planned.kind === 'faults' ? planned.faults.join('\n') : 'none'
  }

  it('is refused with an invalid or lower version, and without a line in the changelog', () => {
    assert.equal(faultsOf(current), 'none', 'the first release may have the version of the sources')
    for (const version of ['1.2', 'v1.2.3', '1.2.3-rc.1', '01.2.3', ''])
      assert.match(faultsOf(version), /is no version/)
    assert.match(faultsOf('0.0.1'), /0\.0\.1 is lower than/)
    const nothing = changelog.replace('- Something new.', 'Nothing yet.')
    assert.match(faultsOf('7.8.9', { 'CHANGELOG.md': nothing }), /nothing under "## Unreleased"/)
    assert.match(
      faultsOf('7.8.9', { 'CHANGELOG.md': changelog.replace('0.0.9', '7.8.9') }),
      /a section 7\.8\.9 already/,
    )
    const client = (texts.get('packages/client/package.json') ?? '').replace(current, '5.5.5')
    assert.match(
      faultsOf('7.8.9', { 'packages/client/package.json': client }),
      /client\/package\.json has version 5\.5\.5/,
    )
  })

  it('finds the changelog of this tree fit to release', () => {
    assert.match(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), /^## Unreleased$/m)
  })
})
