/** A payload as it stands on the wire. */
import { useState } from 'preact/hooks'
import { Copy } from '../../parts/copy.tsx'
import { countText } from '../../words/numbers.ts'
import { rawText } from '../feed/raw-text.ts'

interface Props {
  readonly payload: string
  /** Whose it is, for those who hear the page. */
  readonly name: string
}

export function RawPayload({ payload, name }: Props) {
  const [isWhole, showWhole] = useState(false)
  const { text, isCut } = rawText(payload, isWhole)
  return (
    <section class="raw" aria-label={`Payload of ${name}`}>
      <pre>{text}</pre>
      <p>
        <Copy text={payload} label="Copy the bytes" />{' '}
        {isCut && (
          <button type="button" onClick={() => showWhole(true)}>
            Show all {countText(payload.length)} characters
          </button>
        )}
      </p>
    </section>
  )
}
