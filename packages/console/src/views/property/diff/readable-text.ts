/** Texts that contain HTML, as whoever reads the page sees them. */

const characters: Readonly<Record<string, string>> = {
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
  ldquo: '“',
  rdquo: '”',
  hellip: '…',
  bull: '•',
  eacute: 'é',
  sup2: '²',
}

/** Line breaks are blanks, other markup is left out, and `&pound;` is `£`. What is neither markup nor a known reference stays. */
export function readableText(text: string): string {
  return text
    .replaceAll(/<\/?(?:br|p|div|li|ul|ol|tr|h\d)\b[^<>]{0,300}>/gi, ' ')
    .replaceAll(/<\/?[a-z][^<>]{0,300}>/gi, '')
    .replaceAll(
      /&(?:#(\d{1,6})|#x([\da-f]{1,5})|([a-z\d]{2,8}));/gi,
      (whole, decimal, hexadecimal, name) =>
        characterOf(String(decimal ?? ''), String(hexadecimal ?? ''), String(name ?? '')) ?? whole,
    )
}

function characterOf(decimal: string, hexadecimal: string, name: string): string | undefined {
  if (name !== '') return Object.hasOwn(characters, name) ? characters[name] : undefined
  const code = decimal === '' ? Number.parseInt(hexadecimal, 16) : Number(decimal)
  return code >= 32 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined
}
