/** What is built and committed: the same as the sources make now, and small. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { buildConsole } from '../build.ts'

const folder = join(import.meta.dirname, '../built')
const kilobyte = 1_000
const scriptNames = readdirSync(folder).filter((name) => name.endsWith('.js'))

describe('the built console', () => {
  it('is byte for byte what its sources make; if not, run npm run console (D31)', async () => {
    const made = await buildConsole()
    assert.deepEqual(readdirSync(folder).sort(), Object.keys(made).sort())
    for (const [name, bytes] of Object.entries(made)) {
      assert.ok(readFileSync(join(folder, name)).equals(bytes), `${name} is out of date: run npm run console`)
    }
  })

  it('is at most 95 kB of script and 100 kB in all, gzipped (D31)', () => {
    const sizeOf = (name: string) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length
    const sumOf = (names: readonly string[]) => names.reduce((sum, name) => sum + sizeOf(name), 0)
    const scripts = sumOf(scriptNames)
    assert.ok(scripts <= 95 * kilobyte, `the scripts are ${scripts} bytes`)
    const all = scripts + sumOf(['console.css', 'index.html'])
    assert.ok(all <= 100 * kilobyte, `all is ${all} bytes`)
  })

  it('loads views when they are opened: the first script has none of them, and is less than half of all (D31)', () => {
    const first = readFileSync(join(folder, 'console.js'), 'utf8')
    const all = scriptNames.map((name) => readFileSync(join(folder, name), 'utf8').length)
    assert.ok(
      first.length * 2 < all.reduce((sum, length) => sum + length),
      `${first.length} of ${all.join(', ')}`,
    )
    for (const name of ['feed-view', 'overview-view', 'records', 'playground-view', 'subjects']) {
      assert.equal(scriptNames.filter((script) => script.startsWith(`${name}-`)).length, 1, name)
      assert.match(first, new RegExp(`import\\("\\./${name}-[A-Z0-9]{8}\\.js"\\)`))
    }
    assert.doesNotMatch(first, /import\("\.\/[^"]*\.tsx?"\)/)
  })

  it('sends no request to another host, and has nothing that its policy refuses: no inline script or style, no eval (D31)', () => {
    const page = readFileSync(join(folder, 'index.html'), 'utf8')
    assert.doesNotMatch(page, /\son\w+=|\sstyle=|<style|<base|<script>/)
    const addresses = page.match(/(?:src|href)="[^"]*"/g) ?? []
    for (const address of addresses) assert.match(address, /="(?:\/console\/|data:image\/svg)/)
    assert.doesNotMatch(readFileSync(join(folder, 'console.css'), 'utf8'), /url\(|@import/)
    for (const name of scriptNames) {
      assert.doesNotMatch(readFileSync(join(folder, name), 'utf8'), /\beval\(|new Function\(/)
    }
  })

  it('names the licence of each of its parts (D31)', () => {
    const licences = readFileSync(join(folder, 'licences.txt'), 'utf8')
    for (const name of ['preact', '@preact/signals', '@preact/signals-core', 'preact-iso']) {
      assert.match(licences, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, 'm'))
    }
    assert.match(licences, /MIT License/)
  })
})
