/** Text from payloads, as one line that cannot disguise itself. */

/** Characters that change the direction of the text after them, and invisible ones. */
// oxlint-disable-next-line no-control-regex -- these are what is meant
const unseen = /[\u0000-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]+/g

/** One line of at most `longest` characters: without control characters, and with blanks joined. */
export function oneLine(text: string, longest = 200): string {
  // Only the shown part is read, because a text can have a million characters.
  const line = text
    .slice(0, longest * 4)
    .replaceAll(unseen, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > longest || text.length > longest * 4 ? `${line.slice(0, longest - 1)}…` : line
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
