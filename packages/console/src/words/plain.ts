/** Text from payloads, as one line that cannot disguise itself. */

/** Characters that change the direction of the text after them, and invisible ones. */
const signs = String.raw`\u0000-\u001F\u007F-\u009F\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF`
/** Joiners stay within emoji and between letters of scripts that need them. */
const joined = String.raw`[\u0250-\u1FFF\u2070-\u{E007F}]`
/** What `oneLine` has isolated stays so, as a part of another line. */
const unseen = new RegExp(
  String.raw`(\u2068[^${signs}]*\u2069)|(?:[${signs}]|(?<!${joined})[\u200C\u200D]|[\u200C\u200D](?!${joined}))+`,
  'gu',
)
const rightToLeft = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u
const characters = new Intl.Segmenter('en')

/**
 * One line of at most `longest` UTF-16 units: without control characters, with blanks joined, and with whole characters. A text from right to left is
 * isolated, so that it turns nothing around it, in attributes and within sentences as well.
 */
export function oneLine(text: string, longest = 200): string {
  // Only the shown part is read, because a text can have a million characters.
  const start = cut(text.slice(0, longest * 5), longest * 4)
  const whole = start
    .replaceAll(unseen, (_, isolated?: string) => isolated ?? ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const isCut = whole.length > longest || start.length < text.length
  const line = isCut ? `${cut(whole, longest - 1)}…` : whole
  if (!rightToLeft.test(line)) return line
  // A cut may have left the ends of some behind.
  const opened = line.split('\u2068').length - line.split('\u2069').length
  return `\u2068${line}${'\u2069'.repeat(opened + 1)}`
}

/** Before the character (which may be of many code points, such as a flag) that `at` lies in. */
function cut(text: string, at: number): string {
  return text.slice(0, characters.segment(text).containing(at)?.index)
}

/** `Published` from `PropertyPublished`, `Erased` from `ContactErased`; other short codes unchanged. */
export function typeName(shortCode: string): string {
  return /^(?:Property|Contact)([A-Z][a-z]+)$/.exec(shortCode)?.[1] ?? shortCode
}

/** An address that may become a link: http or https, without a user name. `undefined` for any other text. */
export function webAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const isWeb = ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === ''
  return isWeb ? url.href : undefined
}
