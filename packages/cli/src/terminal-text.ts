/** Text, columns and frames for a terminal. */
import { plainText, unsafeOnTerminals } from '@property-events/protocol'

export { plainText }

/**
 * JSON text for a machine that may be a terminal after all: the same value, with those characters as JSON escapes.
 * `JSON.stringify` itself leaves DEL, C1 and overrides of direction as they are.
 */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(unsafeOnTerminals, (character) =>
    character === '\n' ? character : String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, '0'),
  )
}

/** A word in the form that a shell needs: quoted where necessary, without control characters. */
export function shellWord(text: string): string {
  const plain = plainText(text)
  return /^[\w./:@%+,-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", String.raw`'\''`)}'`
}

/** Columns of text, as wide as their widest cell. Control characters in cells are made safe. */
export function tableText(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  none = 'None.',
): string {
  if (rows.length === 0) return `${none}\n`
  const cells = [head, ...rows].map((row) => row.map((cell) => plainText(cell)))
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** Lines in a frame. */
export function boxText(lines: readonly string[]): string {
  const width = Math.max(...lines.map((line) => line.length))
  const edge = '─'.repeat(width + 2)
  return [`┌${edge}┐`, ...lines.map((line) => `│ ${line.padEnd(width)} │`), `└${edge}┘`, ''].join('\n')
}

/**
 * Text for stderr without what must not be found in a log: of an API key that a user mistypes, or puts in the wrong place, only its id is
 * left, and of an address with a user name and a password, neither. The address that our own sentences give as an example stays.
 */
export function withoutSecrets(text: string): string {
  return text
    .replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/)(?!user(?::password)?@host\b)[^\s"'`<>]*@/gi, '$1…@')
    .replaceAll(/(pev_[0-9A-Za-z]{0,12})([^\s"'`]*)/g, (whole, upToId: string, rest: string) =>
      /[0-9A-Za-z]/.test(rest) ? `${upToId}_…` : whole,
    )
}

/** A value as a user wrote it, of whatever form: what stands before its last `@` may be a user name and a password. */
export function withoutPassword(value: string): string {
  return value.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1…@')
}
