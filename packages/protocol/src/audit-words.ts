/** What a row of the audit says beside its target, in words: for the console and for the command line. */

/** How values are shown to this reader. */
interface AuditValueWords {
  readonly time: (ms: number) => string
  readonly span: (ms: number) => string
  /** Makes a text safe and short enough. */
  readonly text: (text: string) => string
}

/** `scopes property:read; expires 31 Jan 09:30:00`. `detail`: as the store or the service has it. */
export function auditDetailWords(detail: unknown, words: AuditValueWords): string {
  if (typeof detail !== 'object' || detail === null) return ''
  const parts = Object.entries(detail).flatMap(([name, value]) => {
    const text = valueWords(name, value, words)
    return text === undefined ? [] : [`${nameWords(name)}${text === '' ? '' : ` ${text}`}`]
  })
  return parts.join('; ')
}

/** `undefined`: it says nothing, like a flag that is false. */
function valueWords(name: string, value: unknown, { time, span, text }: AuditValueWords): string | undefined {
  if (value === null || value === false || value === undefined) return undefined
  if (value === true) return ''
  if (name === 'ms' && typeof value === 'number') return span(value)
  if (name.endsWith('Ms') && typeof value === 'number') return time(value)
  if (typeof value === 'number') return value.toLocaleString('en-GB')
  if (Array.isArray(value) && value.length === 0) return undefined
  // A list breaks into lines between its members, not within one.
  const shown = Array.isArray(value) ? value.map(String).join(', ') : value
  return text(typeof shown === 'string' ? codeWords(name, shown) : JSON.stringify(shown))
}

/** What an erasure or an expected interval is `of`. */
const ofWords: Readonly<Record<string, string>> = {
  subject: 'all its events',
  event: 'one event',
  consumer: 'a consumer',
  property: 'the publisher of properties',
  contact: 'the publisher of contacts',
}

/** `data subject request` for `data_subject_request`. */
function codeWords(name: string, code: string): string {
  if (name === 'of') return ofWords[code] ?? code
  return /^[a-z]+(?:_[a-z]+)+$/.test(code) ? code.replaceAll('_', ' ') : code
}

/** `expires` of `expiresMs`, `every` of `ms`. */
function nameWords(name: string): string {
  if (name === 'ms') return 'every'
  return name.replace(/Ms$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
