/** The answer that sends a page: whole, or in pieces if it is long. */
import type { StreamedBody } from '../page-cache/index.ts'
import type { PageBody } from '../../http/answer-body.ts'
import type { Answer } from '../../http/exchange.ts'

type Said = Pick<
  Extract<Answer, { kind: 'stream' }>,
  'headers' | 'etag' | 'feed' | 'completeUntil' | 'coding' | 'sent' | 'delivered'
>

/** `onBytes`: called for each piece of a long page when it is made. */
export function pageAnswer(
  said: Said,
  body: PageBody | StreamedBody,
  onBytes: (bytes: number) => void,
): Answer {
  return body.kind === 'whole' ? { ...said, kind: 'pieces', body } : longPage(said, body, onBytes)
}

function longPage(said: Said, body: StreamedBody, onBytes: (bytes: number) => void): Answer {
  // It holds only the piece that is being sent.
  const { byteLength } = body
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of body.pieces()) {
      onBytes(piece.byteLength)
      yield piece
    }
  }
  return { ...said, kind: 'stream', use: 'largePage', byteLength, pieces, release: () => undefined }
}
