/** Texts as agencies' programs write them, and what readers see of each: one table for TypeScript and PHP. */

/** What was written, and what is shown as text. The same in a description, a feature, a line of an address, a caption. */
export const plainTexts: Readonly<Record<string, string>> = {
  // By number, as HTML reads it: 128 to 159 are those of Windows.
  'The agent&#146;s choice &#150; &#163;5': 'The agent’s choice – £5',
  '&#145;Tŷ&#146; &#147;Mawr&#148; &#149; &#151;': '‘Tŷ’ “Mawr” • —',
  '&#128;1 &#130;&#131;&#132;&#133;&#134;&#135;&#136;&#137;&#138;&#139;&#140;&#142;': '€1 ‚ƒ„…†‡ˆ‰Š‹ŒŽ',
  '&#152;&#153;&#154;&#155;&#156;&#158;&#159;': '˜™š›œžŸ',
  '&#x92;&#X96;&#x80;&#x9F;': '’–€Ÿ',
  'a&#129;&#141;&#143;&#144;&#157;&#x81;b': 'ab',
  'The agent\u0092s choice \u0096 5': 'The agent’s choice – 5',
  '&#0163;5 &#00000000000163;6 &#x000000a3;7': '£5 £6 £7',
  '&#163 5 &#xA3 6 &#163,': '£ 5 £ 6 £,',
  '&#373; &#x177; &#127969; &#x1F3E1;': 'ŵ ŷ 🏡 🏡',
  'a&#0;b&#x0;c': 'a\ufffdb\ufffdc',
  'a&#xD800;b&#57343;c&#x110000;d&#99999999999999999999;e&#xffffffffffffffffffff;f':
    'a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf',
  'a&#1;b&#x7f;c&#x202E;d&#8297;e': 'abcde',
  '&#; &#x; &#xg; &#-5; &# 163;': '&#; &#x; &#xg; &#-5; &# 163;',
  // By name: of HTML 4, of Welsh, and what PHP writes.
  'Caf&eacute; &amp; gar&ccedil;on, 21&deg;, &frac12; acre, 20m&sup2;': 'Café & garçon, 21°, ½ acre, 20m²',
  'T&ycirc; G&wcirc;r, &Wcirc;yr &Ycirc;d': 'Tŷ Gŵr, Ŵyr Ŷd',
  '&Agrave;&yuml;&OElig;&Scaron;&fnof;&Alpha;&omega;&sigmaf;&hearts;&euro;&larr;&infin;&radic;&loz;':
    'ÀÿŒŠƒΑως♥€←∞√◊',
  '&lsquo;a&rsquo; &ldquo;b&rdquo; &sbquo;c&bdquo; &ndash; &mdash; &hellip; &bull; &prime;&Prime;':
    '‘a’ “b” ‚c„ – — … • ′″',
  'Hall&comma; 4&period;2 m &lpar;13&apos;9&quot;&rpar; &num;1 &plus; &excl;&quest; &dollar;': `Hall, 4.2 m (13'9") #1 + !? $`,
  'a&nbsp;b&ensp;c&emsp;d&thinsp;e&Tab;f&shy;g': 'a b c d e fg',
  '&AMP; &COPY; &REG; &TRADE;': '& © ® ™',
  '&nosuch; &constructor; &Pound; &EACUTE; &; &a;': '&nosuch; &constructor; &Pound; &EACUTE; &; &a;',
  // Without a semicolon, as browsers read it where no word is meant.
  '&pound250,000 &pound 5 &pound, caf&eacute, caf&eacutes, a&nbspb, &frac12 acre':
    '£250,000 £ 5 £, café, cafés, a b, ½ acre',
  'Fish &amp chips &copy 2026 &quotTŷ&quot': 'Fish & chips © 2026 "Tŷ"',
  'Gas &central heating, &amplifier, R&D, B&B, M&S, Hill &notes; &poundage':
    'Gas &central heating, &amplifier, R&D, B&B, M&S, Hill &notes; &poundage',
  'www.pictures.example/?a=1&copy=2&reg=3&section=4': 'www.pictures.example/?a=1&copy=2&reg=3&section=4',
  '&wcirc &ndash &euro5': '&wcirc &ndash &euro5',
  // Escaped more than once.
  'Caf&amp;eacute; &amp;pound;5 &amp;amp; &amp;#146; &amp;amp;nbsp;&amp;amp;#x2013; x': 'Café £5 & ’ – x',
  'AT&amp;T, &amp;nosuch; &amp;amp;nosuch; &amp;copy': 'AT&T, &nosuch; &amp;nosuch; &copy',
  // Wrapped.
  '<![CDATA[Tŷ Gwyn & Sons]]>': 'Tŷ Gwyn & Sons',
  '<![CDATA[ One]]> and <![cdata[two]]>': 'One and two',
  '<![CDATA[never closed &pound;5': 'never closed £5',
  // Other scripts, both ways.
  'בית יפה – £5 🏡 漢字 ŵ': 'בית יפה – £5 🏡 漢字 ŵ',
  '  two\t\u00a0 blanks\u2003': 'two blanks',
}

/** What was written, and what a description shows of it, as HTML. */
export const markedTexts: Readonly<Record<string, string>> = {
  '&lt;p&gt;Hall &amp;amp; loft&lt;/p&gt;&lt;p&gt;&amp;pound;5 &amp;lt; 6&lt;/p&gt;':
    '<p>Hall &amp; loft</p><p>£5 &lt; 6</p>',
  '&lt;ul class=&quot;x&quot;&gt;&lt;li&gt;T&amp;ycirc;&lt;/li&gt;&lt;/ul&gt;': '<ul><li>Tŷ</li></ul>',
  '&amp;lt;b&amp;gt;Hall&amp;lt;/b&amp;gt; of stone': '<p><strong>Hall</strong> of stone</p>',
  '&#60;p&#62;Hall&#60;/p&#62;': '<p>Hall</p>',
  '&#x3C;br /&#x3E;Hall&#x3c;BR/&#x3e;Loft': '<p>Hall<br>Loft</p>',
  '&lt;p>Hall&lt;/p>': '<p>Hall</p>',
  '&lt;p&gt;Hall&lt;/p&gt;<br />&lt;p&gt;Loft&lt;/p&gt;': '<p>Hall</p><p>Loft</p>',
  '&lt;![CDATA[<p>Hall</p>]]&gt;': '<p>Hall</p>',
  '&lt;![CDATA[Hall]]&gt;': '<p>Hall</p>',
  '&lt;script&gt;alert(1)&lt;/script&gt;Hall': '<p>Hall</p>',
  '&lt;a href=&quot;javascript:alert(1)&quot;&gt;Hall&lt;/a&gt;': '<p>Hall</p>',
  '<p>Hall&lt;br /&gt;Loft&lt;br&gt;Attic</p>&lt;p class=&quot;x&quot;&gt;Barn&lt;/p&gt;':
    '<p>Hall<br>Loft<br>Attic</p><p>Barn</p>',
  '<div>&lt;ul&gt;&lt;li&gt;T&ycirc;&lt;/li&gt;&lt;/ul&gt;</div>': '<ul><li>Tŷ</li></ul>',
  '<p>Hall &lt;br, &lt;property&gt; &lt;p</p>': '<p>Hall &lt;br, &lt;property&gt; &lt;p</p>',
  // What is marked up already, and what only looks a little like a tag, was not escaped as a whole.
  '<p>Write &lt;b&gt; for bold</p>': '<p>Write &lt;b&gt; for bold</p>',
  'Rooms &lt; 3, area &lt;b, &lt;Flat 3&gt; &lt;3': '<p>Rooms &lt; 3, area &lt;b, &lt;Flat 3&gt; &lt;3</p>',
  '<![CDATA[<p>Hall</p><p>Loft</p>]]>': '<p>Hall</p><p>Loft</p>',
  '<![CDATA[<script>alert(1)</script><b>Hall</b>]]>': '<p><strong>Hall</strong></p>',
  'Hall.&#13;&#10;&#13;&#10;Loft.&#xA;Cellar': '<p>Hall.</p><p>Loft.<br>Cellar</p>',
  '<p>Hall&#10;way</p>': '<p>Hall way</p>',
}
