import type { Head } from './event-store.ts'

/**
 * Names which payloads of a feed's events are gone: another text whenever one more has lost its own (D17). While nothing was thinned
 * it is the revision alone, so that names and tags of before that counter was there are good.
 */
export function payloadState({ revision, thinned }: Pick<Head, 'revision' | 'thinned'>): string {
  return thinned === 0 ? String(revision) : `${revision}.${thinned}`
}
