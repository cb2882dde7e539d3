/** What becomes of the addresses of media: one table for all that show them, see web-addresses.ts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { webAddresses } from '../../../protocol/test/payload/web-addresses.ts'
import { listing } from '../../src/listing/index.ts'
import { webAddressOf } from '../../src/listing/media.ts'

describe('the address of a photograph', () => {
  for (const { sent, shown } of webAddresses) {
    it(`${JSON.stringify(sent.slice(0, 70))} is ${shown === undefined ? 'left out' : 'shown'} (P11)`, () => {
      const payload = JSON.stringify({ media: [{ media_type: 1, media_url: sent }] })
      const { photographs } = listing(payload) ?? assert.fail()
      assert.deepEqual(
        photographs.map(({ url }) => url),
        shown === undefined ? [] : [shown],
      )
    })
  }

  it('leads a browser to where the one that was sent leads it (WHATWG URL)', () => {
    let tried = 0
    for (const { sent, shown } of webAddresses) {
      // An empty path is written `/` by browsers.
      if (shown === undefined || !URL.canParse(sent)) continue
      tried += 1
      const byBrowser = webAddressOf(new URL(sent.replace(/\u00a0$/, '')).href)
      assert.equal(webAddressOf(new URL(shown).href), byBrowser, sent)
    }
    assert.ok(tried > 20)
  })

  it('stays in its attribute and needs no second encoding, whatever was sent (P11)', () => {
    const part = fc.oneof(
      fc.constantFrom(...'"\'<>\\^`{|}%?#/@:&= \n\t\u00a0\ud800ŷ'.split('')),
      fc.string({ unit: 'binary', maxLength: 5 }),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const shown = webAddressOf(`https://pictures.example/${parts.join('')}`) ?? assert.fail()
        assert.match(shown, /^https:\/\/pictures\.example\/[!#-&(-;=?-[\]_a-z~]*$/)
        assert.equal(webAddressOf(shown), shown)
        assert.equal(new URL(shown).hostname, 'pictures.example')
      }),
      { numRuns: 2_000 },
    )
  })
})
