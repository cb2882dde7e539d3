/** Makes text from a request safe to show in an answer, a header or a log line. */

const maxShown = 100

/**
 * In double quotes, cut to 100 characters. Everything except plain printable ASCII, and the characters with a meaning in HTML, becomes
 * `\uXXXX`, so no control character, no text direction trick and no tag comes back out.
 */
export function quoteInput(text: string): string {
  const cut = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
  return `"${hideKeys(cut).replaceAll(/[^ !#$%'-;=?-[\]-~…]/g, escapeUnit)}"`
}

function escapeUnit(character: string): string {
  let escaped = ''
  for (let index = 0; index < character.length; index += 1) {
    escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }
  return escaped
}

/** Replaces anything that looks like a key of ours: keys end up in paths and query names by mistake. */
function hideKeys(text: string): string {
  return text.replaceAll(/pev(?:_|%5f)[0-9a-z_%]*/gi, 'pev_hidden')
}

/** A path for the log or for `instance`: no query, no key, at most 200 characters. */
export function pathOnly(target: string): string {
  const end = target.search(/[?#]/)
  const path = end === -1 ? target : target.slice(0, end)
  return hideKeys(path.slice(0, 200))
}

/**
 * Names for a header value: at most 10, each cut to 40 characters, with everything except letters, digits and `. _ -` turned into `_`.
 * The rest is counted: `fom, page_x_, +3`.
 */
export function namesForHeader(names: readonly string[]): string {
  const shown = names
    .slice(0, 10)
    .map((name) => hideKeys(name.slice(0, 40)).replaceAll(/[^A-Za-z0-9._-]/g, '_') || '_')
  if (names.length > shown.length) shown.push(`+${names.length - shown.length}`)
  return shown.join(', ')
}
