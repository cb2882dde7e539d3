/** Descriptions that can stand in any page, whatever was pasted into them. */
import assert from 'node:assert/strict'
import { describe as suite, it } from 'node:test'
import * as fc from 'fast-check'
import { describe } from '../../src/listing/description.ts'

/** Escaped text, and nine elements without attributes, each closed in its turn. */
function faultOf(html: string): string | undefined {
  const open: string[] = []
  for (const [piece] of html.matchAll(/<[^>]*>?|[^<]+/g)) {
    const [, end, name = ''] = /^<(\/?)(p|h3|ul|ol|li|strong|em|br)>$/.exec(piece) ?? []
    if (name === '') {
      if (/[<>"]/.test(piece)) return `not escaped: ${piece}`
      if (/&(?!(?:amp|lt|gt|quot);)/.test(piece)) return `not escaped: ${piece}`
    } else if (end === '/') {
      if (open.pop() !== name) return `${piece} closes what is not open`
    } else if (name !== 'br') open.push(name)
  }
  return open.length === 0 ? undefined : `not closed: ${open.join()}`
}

const words = (html: string): string =>
  html
    .replaceAll(/<\/?(?:strong|em)>/g, '')
    .replaceAll('<li>', ' - ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim()

suite('a description', () => {
  it('keeps what readers see, as text and as HTML', () => {
    for (const [source, text, html] of [
      [null, '', ''],
      [
        'A flat.\r\nFourth floor. <br><br><br><br>',
        'A flat.\nFourth floor.',
        '<p>A flat.<br>Fourth floor.</p>',
      ],
      ['One.\n\nTwo.\n \n\nThree.', 'One.\n\nTwo.\n\nThree.', '<p>One.</p><p>Two.</p><p>Three.</p>'],
      [
        '<p class="x" style=\'y\'>A\nhome</p><P>of <B>your</b> own',
        'A home\n\nof your own',
        '<p>A home</p><p>of <strong>your</strong> own</p>',
      ],
      [
        '<ul><li>Hall<li>Loft</ul><ol><li>x</ol>',
        '- Hall\n- Loft\n\n- x',
        '<ul><li>Hall</li><li>Loft</li></ul><ol><li>x</li></ol>',
      ],
      ['<h1>Hall</h1>Big', 'Hall\n\nBig', '<h3>Hall</h3><p>Big</p>'],
      ['2 < 3 & 4 > 1 "so"', '2 < 3 & 4 > 1 "so"', '<p>2 &lt; 3 &amp; 4 &gt; 1 &quot;so&quot;</p>'],
      [
        '&pound;5 &#8364;6 &#x2013; &nosuch; &#0; &#x202E;',
        '£5 €6 – &nosuch; \ufffd',
        '<p>£5 €6 – &amp;nosuch; \ufffd</p>',
      ],
      ['<table><tr><td>1<td>2<tr><th>3</table>', '1 2\n\n3', '<p>1 2</p><p>3</p>'],
      ['<b>bold <i>both</b> rest</i>', 'bold both rest', '<p><strong>bold <em>both</em></strong> rest</p>'],
      ['a\u0000b\u202ec', 'abc', '<p>abc</p>'],
    ] as const)
      assert.deepEqual(describe(source), { text, html }, String(source))
  })

  it('holds nothing that a browser runs or loads (P11)', () => {
    for (const source of [
      '<script>alert(1)</script>x',
      '<scr<!-- -->ipt>alert(1)</script>x',
      'x<SCRIPT src=//a.example>',
      '<img src=x onerror=alert(1)>x',
      '<svg><script>alert(1)</script></svg>x',
      '<a href="javascript:alert(1)">x</a>',
      '<iframe srcdoc="<script>alert(1)</script>">y</iframe>x',
      '<p onclick="alert(1)">x',
      '<p style="background:url(//a.example)">x</p>',
      '<b title="><script>alert(1)</script>">x</b>',
      '&lt;script&gt;alert(1)&lt;/script&gt;x',
      '<style>@import "//a.example"</style>x',
      '<![CDATA[<script>alert(1)</script>]]>x',
      '<?xml version="1.0"?>x',
      '<!--[if gte mso 9]><xml><w:x/></xml><![endif]-->x',
    ]) {
      const { html } = describe(source)
      assert.equal(faultOf(html), undefined, source)
      assert.ok(html.includes('x'), source)
    }
  })

  it('is made of its nine elements alone, says the same twice, and the same as its text (P11)', () => {
    const piece = fc.oneof(
      fc.constantFrom(...'<>/"\'=&;#!-?xb\n\r \u00a0\u0001'.split('')),
      fc.constantFrom(
        '<p>',
        '</p>',
        '<br/>',
        '<b>',
        '</b>',
        '<i>',
        '</i>',
        '<ul>',
        '<li>',
        '</ul>',
        '<ol>',
        '<h2>',
      ),
      fc.constantFrom(
        '<script>',
        '</script>',
        '<!--',
        '-->',
        '<a href="',
        '<td>',
        '&lt;',
        '&amp;',
        '&#60;',
        '&nbsp;',
      ),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const { text, html } = describe(pieces.join(''))
        assert.equal(faultOf(html), undefined)
        assert.deepEqual(describe(html).html, html)
        assert.equal(words(html), text.replaceAll(/\s+/g, ' ').trim())
      }),
      { numRuns: 2_000 },
    )
  })

  it('takes time in proportion to its length, whatever it consists of (P11)', () => {
    // Each of these took minutes where a search went back over all of it.
    for (const [piece, times] of [
      ['<x> ', 65_000],
      ['&nbsp;', 43_000],
      ['a<br>', 50_000],
      ['<br>', 65_000],
      ['<a "', 65_000],
      ['<a b="', 43_000],
      ['</script', 30_000],
      ['<script', 37_000],
      ['<!--', 65_000],
      ['<p>', 87_000],
      ['<b>', 87_000],
      ['\n', 262_144],
      [' ', 262_144],
      ['<', 262_144],
    ] as const) {
      const html = describe(piece.repeat(times)).html + describe(`<script>${piece.repeat(times)}`).html
      assert.equal(faultOf(html), undefined, piece)
    }
  })
})
