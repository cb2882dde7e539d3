import type { Head } from './event-log.ts'

/**
 * Identifies which payloads of a feed's events are gone: the text changes whenever one more is lost (D17). While nothing has been thinned
 * it is the revision alone.
 */
export function payloadState({ revision, thinned }: Pick<Head, 'revision' | 'thinned'>): string {
  return thinned === 0 ? String(revision) : `${revision}.${thinned}`
}
