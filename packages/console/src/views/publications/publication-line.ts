/** What a key did in a minute, in words. */
import type { Key, PublicationMinute, PublicationRefusal } from '@property-events/protocol/wire'
import { countText, counted } from '../../words/numbers.ts'
import { oneLine } from '../../words/plain.ts'

/** `3 stored (#7 – #8), 1 unchanged`. */
export function outcomeWords(minute: PublicationMinute): string {
  const { stored, repeated, unchanged, firstNumber, lastNumber } = minute
  const numbers =
    firstNumber === null
      ? ''
      : firstNumber === lastNumber || lastNumber === null
        ? ` (#${countText(firstNumber)})`
        : ` (#${countText(firstNumber)} – #${countText(lastNumber)})`
  const parts = [
    ...(stored > 0 ? [`${countText(stored)} stored${numbers}`] : []),
    ...(repeated > 0 ? [`${countText(repeated)} repeated`] : []),
    ...(unchanged > 0 ? [`${countText(unchanged)} unchanged`] : []),
  ]
  return parts.length === 0 ? 'nothing stored' : parts.join(', ')
}

/** `too_long 12, bad_url 1`: most frequent first. */
export function warningWords({ warnings }: PublicationMinute): string {
  return Object.entries(warnings)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 20)
    .map(([code, count]) => `${oneLine(code, 64)} ${countText(count)}`)
    .join(', ')
}

/** `too_long: /payload/details/summary`, most frequent code first, with examples of pointers. */
export function warningPointerLines({ warnings, warningPlaces }: PublicationMinute): readonly string[] {
  return Object.entries(warningPlaces)
    .toSorted(([a], [b]) => (warnings[b] ?? 0) - (warnings[a] ?? 0))
    .slice(0, 20)
    .map(([code, pointers]) => oneLine(`${code}: ${pointers.join(', ')}`, 400))
}

/** `invalid_body: wrong_type at /0/payload/published`, with only the first few faults. */
export function refusalWords({ code, faults }: PublicationRefusal): string {
  const shown = faults.slice(0, 3).map((fault) => `${fault.code} at ${fault.pointer || 'the whole body'}`)
  const rest = faults.length - shown.length
  const more = rest > 0 ? [counted(rest, 'further fault')] : []
  return oneLine(
    [...(shown.length > 0 ? [`${code}:`] : [code]), [...shown, ...more].join('; ')].join(' '),
    400,
  )
}

/** The name of a key: its label, if it is known and has one. */
export function keyName(keyId: string, keys: readonly Key[] | undefined): string {
  const label = keys?.find((key) => key.keyId === keyId)?.label ?? ''
  return oneLine(label, 60) || `pev_${keyId.slice(0, 4)}…`
}

/** The keys to choose from: those that publish, and the chosen one in any case. */
export function publishingKeys(
  keys: readonly Key[] = [],
  chosen: string | undefined,
): readonly (readonly [keyId: string, name: string])[] {
  const ids = keys
    .filter(({ grants }) => grants.some(({ scopes }) => scopes.some((scope) => scope.endsWith(':publish'))))
    .map(({ keyId }) => keyId)
  return [...new Set(chosen === undefined ? ids : [...ids, chosen])].map((id) => [id, keyName(id, keys)])
}
