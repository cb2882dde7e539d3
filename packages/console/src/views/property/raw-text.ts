/** The bytes of a payload as they stand, made safe to look at. */

/** Characters that are shown before somebody asks for all. */
export const shownAtFirst = 20_000

export interface RawText {
  readonly text: string
  /** Characters of the whole payload. */
  readonly length: number
  readonly isWhole: boolean
  /** Characters that change the direction of writing or are not seen are shown as `\u202e`, which means the same in JSON. */
  readonly hasEscapes: boolean
}

/** Line ends and tabs stay. */
const disguising = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g

export function rawText(payload: string, longest: number): RawText {
  const part = payload.length > longest ? payload.slice(0, longest) : payload
  const text = part.replaceAll(
    disguising,
    (character) => String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, '0'),
  )
  return {
    text,
    length: payload.length,
    isWhole: part.length === payload.length,
    hasEscapes: text.length !== part.length,
  }
}
