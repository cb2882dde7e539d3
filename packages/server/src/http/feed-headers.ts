import type { Head } from '../storage/storage.ts'

/** The state of the feed an answer was made in (D20). */
export function feedHeaders(head: Head): Readonly<Record<string, string>> {
  return {
    'x-feed-head': String(head.sequenceNumber),
    'x-feed-epoch': head.epoch,
    'x-feed-revision': String(head.revision),
  }
}

/** The same, for the OpenAPI document. */
export const feedHeaderSchemas = {
  'x-feed-head': { type: 'integer', description: "The feed's highest sequenceNumber." },
  'x-feed-epoch': { type: 'string', description: 'Changes when numbers were carried past a gap.' },
  'x-feed-revision': { type: 'integer', description: 'Rises when stored payloads were reduced.' },
} as const
