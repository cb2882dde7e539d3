/** Ends a key for good, after a confirmation. */
import { useEffect } from 'preact/hooks'
import { Age } from '../../parts/age.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import type { Key } from '@property-events/protocol/wire'
import { revokeKey } from '../../service/operations/keys.ts'
import { oneLine } from '../../words/plain.ts'
import { ActionTrouble } from '../sign-in/action-trouble.tsx'
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
        class="key-action"
        onSubmit={(event) => {
          event.preventDefault()
          void action.run(revokeKey(keyId))
        }}
      >
        <p>
          It was last used: <Age at={lastUsedAt} />. Whatever uses it is refused within 2 seconds, for ever.
        </p>
        <button class="main" type="submit" disabled={action.isBusy}>
          {action.isBusy ? 'Waiting for the service …' : 'Revoke for good'}
        </button>
      </form>
      <ActionTrouble action={action} />
    </Dialog>
  )
}
