/** A payload as it stands on the wire. */
import { useState } from 'preact/hooks'
import { Copy } from '../../parts/copy.tsx'
import { countText } from '../../words/numbers.ts'
import { rawText, shownAtFirst } from './raw-text.ts'

interface Props {
  readonly payload: string
  /** Whose it is, for those who hear the page. */
  readonly name: string
}

export function RawPayload({ payload, name }: Props) {
  const [longest, setLongest] = useState(shownAtFirst)
  const { text, length, isWhole, hasEscapes } = rawText(payload, longest)
  return (
    <div class="raw">
      <pre tabIndex={0} role="region" aria-label={`Payload of ${name}`}>
        {text}
      </pre>
      <p>
        <Copy text={payload} name={`Copy the payload of ${name}`} /> {countText(length)} characters
        {!isWhole && (
          <>
            , of which {countText(longest)} are shown{' '}
            <button type="button" onClick={() => setLongest(length)}>
              Show all
            </button>
          </>
        )}
        {hasEscapes && '. Characters that cannot be seen, or that turn the writing round, are shown as \\u and their number.'}
      </p>
    </div>
  )
}
