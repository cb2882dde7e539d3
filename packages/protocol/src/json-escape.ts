/** What a `\u` in a JSON string stands for. */

/** The UTF-16 unit that four hexadecimal digits behind `\u` stand for; NaN if not even the first is one. */
export function unitAt(text: string, index: number): number {
  let unit = 0
  for (let at = index; at < index + 4; at += 1) {
    const digit = hexDigit(text.charCodeAt(at))
    // Not JSON, which `JSON.parse` will say.
    if (digit < 0) return Number.parseInt(text.slice(index, index + 4), 16)
    unit = unit * 16 + digit
  }
  return unit
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
