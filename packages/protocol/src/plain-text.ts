/**
 * Text from elsewhere, made safe for a terminal: control characters (escape codes that move the cursor, set the title,
 * or worse) and characters that change the direction of writing are shown as `\u001b`. Line ends and tabs stay where
 * `multiline` says so.
 */
export function plainText(text: string, options: { readonly multiline?: boolean } = {}): string {
  return text.replaceAll(unsafeOnTerminals, (character) => {
    if (options.multiline === true && (character === '\n' || character === '\t')) return character
    return String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, '0')
  })
}

/** C0, DEL, C1, line and paragraph separators, marks and overrides of direction. */
export const unsafeOnTerminals = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** Whether a text has at most so many characters, counted as JSON Schema counts them: an emoji is one. */
export function hasAtMost(text: string, most: number): boolean {
  return text.length <= most || (text.length <= 2 * most && Array.from(text).length <= most)
}
