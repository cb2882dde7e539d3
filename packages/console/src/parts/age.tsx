/** A time: local, UTC on hover, and its age beside it. */
import { now } from '../state/clock.ts'
import { ageText, localText, readTime, utcText } from '../words/times.ts'

interface Props {
  /** In the form of the service's times, or in milliseconds since 1970. */
  readonly at: string | number | null | undefined
  /** What to show without a time. */
  readonly none?: string
}

/** `31 Jan 09:30:00 · 3 min ago`. */
export function Moment({ at, none }: Props) {
  const ms = msOf(at)
  if (ms === undefined) return <>{none ?? 'never'}</>
  return (
    <span class="moment">
      <time dateTime={new Date(ms).toISOString()} title={utcText(ms)}>
        {localText(ms, now.value)}
      </time>{' '}
      <span class="quiet">· {ageText(ms, now.value)}</span>
    </span>
  )
}

/** `3 min ago` alone, for a narrow column; the whole time on hover. */
export function Age({ at, none }: Props) {
  const ms = msOf(at)
  if (ms === undefined) return <>{none ?? 'never'}</>
  return (
    <time dateTime={new Date(ms).toISOString()} title={`${localText(ms, now.value)}, ${utcText(ms)}`}>
      {ageText(ms, now.value)}
    </time>
  )
}

/** `31 Jan 09:30:00` alone; `isMinute`: without the seconds. */
export function LocalTime({ at, none, isMinute }: Props & { readonly isMinute?: boolean }) {
  const ms = msOf(at)
  if (ms === undefined) return <>{none ?? 'never'}</>
  return (
    <time dateTime={new Date(ms).toISOString()} title={`${utcText(ms)}, ${ageText(ms, now.value)}`}>
      {isMinute === true ? localText(ms, now.value).slice(0, -3) : localText(ms, now.value)}
    </time>
  )
}

function msOf(at: Props['at']): number | undefined {
  return typeof at === 'number' ? at : readTime(at)
}
