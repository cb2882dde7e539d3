/** What the views and dialogs of endpoints share. */
import type { Webhook } from '@property-events/protocol/wire'
import { Age } from '../../parts/age.tsx'
import { Copy } from '../../parts/copy.tsx'
import { oneLine } from '../../words/plain.ts'
import { webhookState } from './webhook-line.ts'

/** `salesproperty`; `property, operations`. */
export function sentWords({ feed, events, apiEventType }: Webhook): string {
  return events === 'operations' ? `operations of ${feed}` : oneLine(apiEventType, 40)
}

/** `paused`, and since when. */
export function State({ of }: { readonly of: Webhook }) {
  const [mark, words] = webhookState(of)
  const since = of.stateSince ?? of.failingSince
  return (
    <span class={`mark-${mark}`}>
      {words}
      {since !== null && (
        <>
          , <Age at={since} />
        </>
      )}
    </span>
  )
}

/** Shown only this once. */
export function Secret({ secret }: { readonly secret: string }) {
  return (
    <div class="issued">
      <p role="status">
        <strong>Copy the secret now: it will not be shown again.</strong> Requests are signed with it.
      </p>
      <p>
        <code class="secret">{secret}</code> <Copy text={secret} name="Copy the secret" />
      </p>
    </div>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly value: string
  readonly among: readonly (readonly [value: string, says: string])[]
  readonly onChoice: (value: string) => void
}

export function Choice({ name, value, among, onChoice }: ChoiceProps) {
  return (
    <label>
      {name}
      <select value={value} onChange={({ currentTarget }) => onChoice(currentTarget.value)}>
        {among.map(([one, says]) => (
          <option key={one} value={one}>
            {says}
          </option>
        ))}
      </select>
    </label>
  )
}
