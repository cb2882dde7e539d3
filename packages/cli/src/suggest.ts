import { nearestName } from '@property-events/protocol'

/** ` Did you mean X?`, or nothing. */
export function didYouMean(written: string, candidates: readonly string[]): string {
  const meant = nearestName(written, candidates)
  return meant === undefined ? '' : ` Did you mean ${meant}?`
}
