/** The names of character references that agencies' programs write: HTML's, as far as texts about homes have them. PHP's are generated from them. */

/** Of U+00A0 to U+00FF, in their order. */
const latin = (
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para ' +
  'middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute ' +
  'Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml ' +
  'Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml ' +
  'eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
).split(' ')

/** What older pages wrote without a semicolon, each with its character. */
const simple = 'amp & lt < gt > quot " AMP & LT < GT > QUOT " COPY © REG ®'

/** The other names of HTML 4, those of Welsh, and those of HTML 5 for punctuation, each with its character. */
const further =
  'OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ fnof ƒ circ ˆ tilde ˜ Wcirc Ŵ wcirc ŵ Ycirc Ŷ ycirc ŷ ' +
  'Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π ' +
  'Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ ' +
  'iota ι kappa κ lambda λ mu μ nu ν xi ξ omicron ο pi π rho ρ sigmaf ς sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω ' +
  'thetasym ϑ upsih ϒ piv ϖ ensp \u2002 emsp \u2003 thinsp \u2009 zwnj \u200c zwj \u200d lrm \u200e rlm \u200f ' +
  'ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • hellip … permil ‰ prime ′ Prime ″ ' +
  'lsaquo ‹ rsaquo › oline ‾ frasl ⁄ euro € image ℑ weierp ℘ real ℜ trade ™ TRADE ™ alefsym ℵ larr ← uarr ↑ rarr → darr ↓ ' +
  'harr ↔ crarr ↵ lArr ⇐ uArr ⇑ rArr ⇒ dArr ⇓ hArr ⇔ forall ∀ part ∂ exist ∃ empty ∅ nabla ∇ isin ∈ notin ∉ ni ∋ prod ∏ ' +
  'sum ∑ minus − lowast ∗ radic √ prop ∝ infin ∞ ang ∠ and ∧ or ∨ cap ∩ cup ∪ int ∫ there4 ∴ sim ∼ cong ≅ asymp ≈ ne ≠ ' +
  'equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ nsub ⊄ sube ⊆ supe ⊇ oplus ⊕ otimes ⊗ perp ⊥ sdot ⋅ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ ' +
  "lang ⟨ rang ⟩ loz ◊ spades ♠ clubs ♣ hearts ♥ diams ♦ Tab \t NewLine \n excl ! num # dollar $ percnt % apos ' lpar ( " +
  'rpar ) ast * plus + comma , period . sol / colon : semi ; equals = quest ? commat @ lsqb [ lbrack [ bsol \\ rsqb ] ' +
  'rbrack ] Hat ^ lowbar _ grave ` lcub { lbrace { verbar | vert | rcub } rbrace }'

/** Names that browsers know without a semicolon, too. */
export const oldNames: ReadonlyMap<string, string> = new Map([
  ...latin.map((name, index): [string, string] => [name, String.fromCharCode(0xa0 + index)]),
  ...pairsOf(simple),
  // A soft hyphen is not seen, and in the way of every search.
  ['shy', ''],
])

export const allNames: ReadonlyMap<string, string> = new Map([...oldNames, ...pairsOf(further)])

function pairsOf(text: string): readonly [string, string][] {
  const parts = text.split(' ')
  return parts.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, parts[index + 1] ?? '']] : [],
  )
}
