import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hasAtMost } from '../src/index.ts'

describe('the length of a text', () => {
  it('is counted in characters, as the schemas count it: an emoji is one (D21)', () => {
    for (const text of ['🏡'.repeat(200), 'ŵ'.repeat(200), `${'£'.repeat(199)}🏡`, ''])
      assert.ok(hasAtMost(text, 200), text)
    for (const text of ['🏡'.repeat(201), 'x'.repeat(201), `${'£'.repeat(200)}🏡`, 'x'.repeat(10_000)])
      assert.ok(!hasAtMost(text, 200), text)
  })
})
