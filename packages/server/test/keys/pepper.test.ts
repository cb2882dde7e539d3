import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { PepperRefusal, hashSecret, loadPeppers } from '../../src/keys/pepper.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'property-events-pepper-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('the pepper', () => {
  it('is made on first use as a file only its owner can read, and stays the same (D11)', () => {
    const [first] = loadPeppers({ folder, given: undefined })
    const [again] = loadPeppers({ folder, given: undefined })
    assert.deepEqual(again, first)
    assert.equal(first.secret.length, 32)
    assert.deepEqual(readdirSync(folder), ['pepper'])
    assert.equal(statSync(join(folder, 'pepper')).mode & 0o777, 0o600)
  })

  it('is the given one if there is one, and no file is made (D11)', () => {
    const [pepper, ...others] = loadPeppers({ folder, given: 'a secret from the vault' })
    assert.equal(Buffer.from(pepper.secret).toString(), 'a secret from the vault')
    assert.deepEqual(others, [])
    assert.deepEqual(readdirSync(folder), [])
  })

  it('of a file is the same if its text is given, with or without the newline that a mounted secret has (D11)', () => {
    const ofFile = loadPeppers({ folder, given: undefined })
    const text = readFileSync(join(folder, 'pepper'), 'utf8')
    assert.ok(text.endsWith('\n'))
    for (const given of [text, text.trim()]) {
      assert.deepEqual(loadPeppers({ folder: undefined, given }), ofFile)
    }
  })

  it('is identified by an id that does not contain it (D11)', () => {
    const [one] = loadPeppers({ folder, given: 'a secret from the vault' })
    const [other] = loadPeppers({ folder, given: 'a secret from the vaulT' })
    assert.notEqual(one.pepperId, other.pepperId)
    assert.match(one.pepperId, /^[0-9a-f]{12}$/)
    assert.notDeepEqual(hashSecret(one, 'x'), hashSecret(other, 'x'))
    assert.equal(hashSecret(one, 'x').length, 32)
  })

  it('is refused with a sentence when it is too short or the file is damaged, and the file is left alone (D11)', () => {
    assert.throws(() => loadPeppers({ folder, given: 'short' }), PepperRefusal)
    writeFileSync(join(folder, 'pepper'), 'damaged')
    assert.throws(() => loadPeppers({ folder, given: undefined }), /from a backup/)
    assert.equal(readFileSync(join(folder, 'pepper'), 'utf8'), 'damaged')
  })

  it('is one and the same for many processes that start at the same time (D11)', async () => {
    const source = new URL('../../src/keys/pepper.ts', import.meta.url).href
    const script = `import { loadPeppers } from ${JSON.stringify(source)}
      console.log(loadPeppers({ folder: ${JSON.stringify(folder)}, given: undefined })[0].pepperId)`
    const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
    const results = await Promise.all(Array.from({ length: 6 }, run))
    assert.equal(new Set(results.map((result) => result.stdout)).size, 1)
    assert.deepEqual(readdirSync(folder), ['pepper'])
  })
})
