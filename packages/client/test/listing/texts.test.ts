/** What readers see of the texts that agencies' programs write: see texts.ts, which PHP is tried with, too. */
import assert from 'node:assert/strict'
import { describe as suite, it } from 'node:test'
import { describe } from '../../src/listing/description.ts'
import { listing } from '../../src/listing/index.ts'
import { payloadOf, shownIn } from './text-fields.ts'
import { markedTexts, plainTexts } from './texts.ts'

suite('a text', () => {
  it('is shown to readers as it was meant, in a description, an address, a feature and a caption (D24)', () => {
    for (const [written, shown] of Object.entries(plainTexts)) {
      const home = listing(JSON.stringify(payloadOf(written))) ?? assert.fail()
      for (const [field, value] of Object.entries(shownIn(home)))
        assert.equal(value, shown, `${field}: ${written}`)
    }
  })

  it('is HTML if that was escaped as a whole, or wrapped as character data (P11)', () => {
    for (const [written, html] of Object.entries(markedTexts)) {
      assert.equal(describe(written).html, html, written)
      assert.equal(describe(html).html, html)
    }
  })

  it('has no tags in features, captions and rooms, however they were written (P11)', () => {
    const marked = '<li>T&ycirc; <b>Mawr</b></li>&lt;'
    const home = listing(JSON.stringify(payloadOf(marked))) ?? assert.fail()
    assert.deepEqual(
      [home.features, home.photographs[0]?.caption, home.rooms[0]?.name],
      [['Tŷ Mawr <'], 'Tŷ Mawr <', 'Tŷ Mawr <'],
    )
    assert.deepEqual(
      listing('{"details":{"features":["&lt;b&gt;Loft&lt;/b&gt;","&nbsp;","<br>"]}}')?.features,
      ['Loft'],
    )
  })
})
