/** Creates a key that replaces another one, which keeps working for a while. */
import { useState } from 'preact/hooks'
import { Dialog, DialogActions } from '../../parts/dialog.tsx'
import type { Key, RotatedKey } from '@property-events/protocol/wire'
import { rotateKey } from '../../service/operations/keys.ts'
import { now } from '../../state/clock.ts'
import { oneLine } from '../../words/plain.ts'
import { readTime } from '../../words/times.ts'
import { ActionFailure } from '../sign-in/action-failure.tsx'
import { IssuedKey } from './issued-key.tsx'
import { leftText } from './key-state.ts'
import { useAction } from '../../service/use-action.ts'

interface Props {
  readonly keyToReplace: Key
  readonly tenantId: string | undefined
  readonly onClose: () => void
}

const overlaps = [
  [24, 'a day'],
  [72, '3 days'],
  [168, 'a week'],
  [720, '30 days'],
  [1, 'an hour'],
  [0, '0 minutes: it ends at once'],
] as const

export function RotateDialog({ keyToReplace: { keyId, label }, tenantId, onClose }: Props) {
  const [hours, setHours] = useState(24)
  const action = useAction<RotatedKey>()
  const name = oneLine(label, 80) || keyId
  if (action.done !== undefined) {
    return (
      <Dialog title={`New key for ${name}`} onClose={onClose}>
        <IssuedKey issued={action.done} tenantId={tenantId} />
        <p>{endWords(action.done.replaced.expiresAt, now.value)}</p>
      </Dialog>
    )
  }
  return (
    <Dialog title={`Rotate ${name}`} onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          void action.run(rotateKey(keyId, hours))
        }}
      >
        <p>
          Creates a new key with the same scopes and limits. Give it to the program that uses the old one.
        </p>
        <label>
          The old key keeps working for
          <select value={hours} onChange={({ currentTarget }) => setHours(Number(currentTarget.value))}>
            {overlaps.map(([value, says]) => (
              <option key={value} value={value}>
                {says}
              </option>
            ))}
          </select>
        </label>
        <DialogActions name="Rotate key" isBusy={action.isBusy} onCancel={onClose} />
      </form>
      <ActionFailure action={action} />
    </Dialog>
  )
}

function endWords(expiresAt: string | null, nowMs: number): string {
  const endsMs = readTime(expiresAt)
  if (endsMs === undefined) return 'The previous key does not expire.'
  return endsMs <= nowMs
    ? 'The previous key has ended.'
    : `The previous key ends in ${leftText(endsMs - nowMs)}.`
}
