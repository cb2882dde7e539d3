/** A payload as it is on the wire. */
import { useState } from 'preact/hooks'
import { Copy } from '../../parts/copy.tsx'
import { countText } from '../../words/numbers.ts'
import { rawText } from '../feed/raw-text.ts'

interface Props {
  readonly payload: string
  /** What the payload belongs to, for screen readers. */
  readonly name: string
}

export function RawPayload({ payload, name }: Props) {
  const [isWhole, showWhole] = useState(false)
  const { text, isCut } = rawText(payload, isWhole)
  return (
    <section class="raw">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- It scrolls, from the keyboard too. */}
      <pre tabIndex={0} role="region" aria-label={`Payload of ${name}`}>
        {text}
      </pre>
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
