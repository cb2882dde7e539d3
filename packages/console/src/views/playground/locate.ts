/** The position in a JSON text that a pointer leads to. */

/**
 * The offset of the value at an RFC 6901 pointer. If there is none, the offset of the deepest value on the way. `text` must be JSON,
 * however deeply nested: nothing here is recursive.
 */
export function offsetOfPointer(text: string, pointer: string): number {
  let at = afterBlanks(text, 0)
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    const next = text.charAt(at) === '{' ? memberAt(text, at, name) : itemAt(text, at, name)
    if (next === undefined) return at
    at = next
  }
  return at
}

function memberAt(text: string, object: number, wanted: string): number | undefined {
  let found: number | undefined
  let at = afterBlanks(text, object + 1)
  while (text.charAt(at) === '"') {
    const end = afterString(text, at)
    const name: unknown = JSON.parse(text.slice(at, end))
    const value = afterBlanks(text, afterBlanks(text, end) + 1)
    // If a name occurs twice, the last one counts, as for a parser.
    if (name === wanted) found = value
    at = afterComma(text, afterValue(text, value))
  }
  return found
}

function itemAt(text: string, list: number, wanted: string): number | undefined {
  if (text.charAt(list) !== '[' || !/^\d{1,9}$/.test(wanted)) return undefined
  let at = afterBlanks(text, list + 1)
  for (let index = 0; at < text.length && text.charAt(at) !== ']'; index += 1) {
    if (index === Number(wanted)) return at
    at = afterComma(text, afterValue(text, at))
  }
  return undefined
}

function afterComma(text: string, at: number): number {
  const next = afterBlanks(text, at)
  return text.charAt(next) === ',' ? afterBlanks(text, next + 1) : next
}

function afterValue(text: string, at: number): number {
  if (text.charAt(at) === '"') return afterString(text, at)
  if (!/[[{]/.test(text.charAt(at))) return at + Math.max(1, text.slice(at, at + 1_000).search(/[,\]}\s]|$/))
  let depth = 0
  let position = at
  const token = /["[\]{}]/g
  do {
    token.lastIndex = position
    const match = token.exec(text)
    if (match === null) return text.length
    if (match[0] === '"') position = afterString(text, match.index)
    else {
      depth += match[0] === '[' || match[0] === '{' ? 1 : -1
      position = match.index + 1
    }
  } while (depth > 0)
  return position
}

function afterString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text.charAt(quote - 1 - backslashes) === '\\') backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
  }
  return text.length
}

function afterBlanks(text: string, at: number): number {
  let position = at
  while (/[ \t\r\n]/.test(text.charAt(position))) position += 1
  return position
}
