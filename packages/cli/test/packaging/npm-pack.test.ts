/** `npm pack` and `npm publish` among the sources: what is published is built, so neither makes anything of the sources. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { readManifest } from '../../../../scripts/compile.ts'
import { root } from '../support/documents.ts'

const inLongRun = process.env['PROPERTY_EVENTS_TEST_LONG'] === '1'
const folders = ['.', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)]

describe('npm pack and npm publish in a folder of the sources', () => {
  const target = mkdtempSync(join(tmpdir(), 'property-events-npm-pack-'))
  after(() => rmSync(target, { recursive: true }))

  function npm(
    folder: string,
    args: readonly string[],
  ): Promise<{ readonly isRefused: boolean; readonly text: string }> {
    const variables = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))
    const options = {
      cwd: join(root, folder),
      env: Object.fromEntries(variables),
      shell: process.platform === 'win32',
    }
    return new Promise((resolve) =>
      execFile('npm', [...args], options, (error, stdout, stderr) =>
        resolve({ isRefused: error !== null, text: stdout + stderr }),
      ),
    )
  }

  it('refuse in every package, and say what to run in its place', async () => {
    for (const folder of inLongRun ? folders : ['packages/client']) {
      const packed = await npm(folder, ['pack', '--pack-destination', target])
      assert.ok(packed.isRefused, folder)
      assert.match(packed.text, /npm run pack -- \.\.\/packages/, folder)
    }
    assert.deepEqual(readdirSync(target), [])
    const published = await npm('packages/client', ['publish', '--dry-run'])
    assert.ok(published.isRefused)
    assert.match(published.text, /private|npm run pack/i)
  })

  it(
    'leave the sources out where scripts are off',
    { skip: inLongRun ? false : 'only in npm run test:long' },
    async () => {
      for (const folder of folders.slice(1)) {
        const { text } = await npm(folder, ['pack', '--dry-run', '--json', '--ignore-scripts'])
        const names = [...text.matchAll(/"path": "([^"]+)"/g)].map(([, name = '']) => name)
        assert.ok(names.includes('package.json'), text)
        assert.deepEqual(
          names.filter((name) => name.endsWith('.ts')),
          [],
          folder,
        )
      }
    },
  )

  it('are refused by the manifest of each', () => {
    for (const folder of folders) {
      const { private: isPrivate, files, scripts } = readManifest(join(root, folder))
      assert.equal(isPrivate, true, folder)
      const refusing = `${folder === '.' ? '' : '../../'}scripts/refuse-pack.mjs`
      assert.equal(Object(scripts)['prepack'], `node ${refusing}`, folder)
      if (folder !== '.') assert.deepEqual(files, [], folder)
    }
  })
})
