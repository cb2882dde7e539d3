/** Ends a key for good, after a confirmation. */
import { useEffect } from 'preact/hooks'
import { Age } from '../../parts/age.tsx'
import { Dialog, DialogActions } from '../../parts/dialog.tsx'
import type { Key } from '@property-events/protocol/wire'
import { revokeKey } from '../../service/operations/keys.ts'
import { oneLine } from '../../words/plain.ts'
import { ActionFailure } from '../sign-in/action-failure.tsx'
import { useAction } from '../../service/use-action.ts'

interface Props {
  readonly keyToRevoke: Key
  readonly onClose: () => void
}

export function RevokeDialog({ keyToRevoke: { keyId, label, lastUsedAt }, onClose }: Props) {
  const action = useAction<Key>()
  const isDone = action.done !== undefined
  useEffect(() => {
    if (isDone) onClose()
  }, [isDone])
  return (
    <Dialog title={`Revoke ${oneLine(label, 80) || keyId}`} onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          void action.run(revokeKey(keyId))
        }}
      >
        <p>
          Last used: <Age at={lastUsedAt} />. Clients using it are refused within 2 seconds. This cannot be
          undone.
        </p>
        <DialogActions name="Revoke key" isBusy={action.isBusy} isDanger onCancel={onClose} />
      </form>
      <ActionFailure action={action} />
    </Dialog>
  )
}
