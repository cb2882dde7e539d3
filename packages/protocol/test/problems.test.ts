/** The titles of problems, which readers search for and consoles show. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { problems } from '../src/problems.ts'

describe('the title of a problem', () => {
  it('is short, in the words that people search for, and belongs to one code (D6)', () => {
    assert.equal(problems.invalid_parameter.title, 'Invalid parameter')
    assert.equal(problems.invalid_body.title, 'Invalid body')
    assert.equal(problems.unauthorized.title, 'Invalid or missing API key')
    const all = Object.values(problems)
    for (const { title, detail } of all) {
      assert.match(title, /^[A-Z][\w -]{5,39}$/, title)
      assert.ok(title.split(' ').length <= 7, title)
      assert.doesNotMatch(
        `${title} ${detail}`,
        /not usable|No such|\bmay not\b|goes on|is made|under way/,
        title,
      )
      assert.match(detail, /^[A-Z].*\.$/, title)
    }
    assert.equal(new Set(all.map(({ title }) => title)).size, all.length)
  })
})
