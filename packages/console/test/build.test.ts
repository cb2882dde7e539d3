/** What is built and committed: the same as the sources make now, and small. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { buildConsole } from '../build.ts'

const folder = join(import.meta.dirname, '../built')
const kilobyte = 1_000

describe('the built console', () => {
  it('is byte for byte what its sources make; if not, run npm run console (D31)', async () => {
    const made = await buildConsole()
    assert.deepEqual(readdirSync(folder).sort(), Object.keys(made).sort())
    for (const [name, bytes] of Object.entries(made)) {
      assert.ok(readFileSync(join(folder, name)).equals(bytes), `${name} is out of date: run npm run console`)
    }
  })

  it('is at most 95 kB of script, 12 of style and 2 of page, gzipped (D31)', () => {
    for (const [name, most] of [
      ['console.js', 95],
      ['console.css', 12],
      ['index.html', 2],
    ] as const) {
      const { length } = gzipSync(readFileSync(join(folder, name)), { level: 9 })
      assert.ok(length <= most * kilobyte, `${name} is ${length} bytes`)
    }
  })

  it('sends no request to another host, and has nothing that its policy refuses: no inline script or style, no eval (D31)', () => {
    const page = readFileSync(join(folder, 'index.html'), 'utf8')
    assert.doesNotMatch(page, /\son\w+=|\sstyle=|<style|<base|<script>/)
    const addresses = page.match(/(?:src|href)="[^"]*"/g) ?? []
    for (const address of addresses) assert.match(address, /="(?:\/console\/|data:image\/svg)/)
    assert.doesNotMatch(readFileSync(join(folder, 'console.css'), 'utf8'), /url\(|@import/)
    assert.doesNotMatch(readFileSync(join(folder, 'console.js'), 'utf8'), /\beval\(|new Function\(/)
  })

  it('names the licence of each of its parts (D31)', () => {
    const licences = readFileSync(join(folder, 'licences.txt'), 'utf8')
    for (const name of ['preact', '@preact/signals', '@preact/signals-core', 'preact-iso']) {
      assert.match(licences, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, 'm'))
    }
    assert.match(licences, /MIT License/)
  })
})
