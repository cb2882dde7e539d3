/** Character references of HTML that occur in descriptions. */

/** The names that word processors and editors write; any other name stays as it was written. */
const names: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  pound: '£',
  euro: '€',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  ldquo: '“',
  rdquo: '”',
  hellip: '…',
  bull: '•',
  middot: '·',
  deg: '°',
  sup2: '²',
  sup3: '³',
  frac12: '½',
  frac14: '¼',
  frac34: '¾',
  times: '×',
  copy: '©',
  reg: '®',
  trade: '™',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  acirc: 'â',
  ecirc: 'ê',
  ocirc: 'ô',
  ccedil: 'ç',
  shy: '',
}

/**
 * `&pound;`, `&#163;` and `&#xA3;` are `£`. Anything that is not a reference, or refers to a control character, stays as it was written.
 */
export function decodeEntities(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z][A-Za-z0-9]{1,9}));/g,
    (whole, ...groups) => {
      const [decimal, hexadecimal, name]: readonly (string | undefined)[] = groups
      if (name !== undefined) return Object.hasOwn(names, name) ? (names[name] ?? whole) : whole
      const point = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal)
      return isShown(point) ? String.fromCodePoint(point) : whole
    },
  )
}

/** Whether a reader may be shown the character: no control character, no half of a pair, nothing that turns the direction of text. */
function isShown(point: number): boolean {
  const isControl = point < 0x20 || (point >= 0x7f && point < 0xa0)
  const isHalf = point >= 0xd800 && point <= 0xdfff
  const turns = (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069)
  return point <= 0x10ffff && !isControl && !isHalf && !turns
}
