/** Restricts a contact: it is kept, and no answer shows it. */
import { useState } from 'preact/hooks'
import { restrictionReasons } from '@property-events/protocol/plain'
import type { Restriction } from '@property-events/protocol/wire'
import { Dialog, DialogActions } from '../../parts/dialog.tsx'
import { restrictContact } from '../../service/operations/contacts.ts'
import { useAction } from '../../service/use-action.ts'
import { ActionFailure } from '../sign-in/action-failure.tsx'
import { reasonWords } from '../erasures/erasure-form.ts'

interface Props {
  readonly tenantId: string
  readonly contactRef: string
  readonly onClose: () => void
}

export function RestrictDialog({ tenantId, contactRef, onClose }: Props) {
  const [reason, setReason] = useState('')
  const [caseRef, setCaseRef] = useState('')
  const action = useAction<Restriction>()
  const chosen = restrictionReasons.find((one) => one === reason)
  return (
    <Dialog title="Restrict this contact" onClose={onClose}>
      {action.done !== undefined ? (
        <p role="status">The contact is restricted. Consumers are being told to remove it.</p>
      ) : (
        <form
          class="dialog-form"
          onSubmit={(event) => {
            event.preventDefault()
            if (chosen !== undefined) void action.run(restrictContact(tenantId, contactRef, chosen, caseRef))
          }}
        >
          <p>
            The contact is kept, and nobody is shown it until the restriction ends. Consumers are told to
            remove it.
          </p>
          <label>
            Reason
            <select value={reason} onChange={({ currentTarget }) => setReason(currentTarget.value)}>
              <option value="">Choose a reason</option>
              {restrictionReasons.map((one) => (
                <option key={one} value={one}>
                  {reasonWords(one)}
                </option>
              ))}
            </select>
          </label>
          <label>
            Case reference (optional, no personal names)
            <input
              autoComplete="off"
              value={caseRef}
              onInput={({ currentTarget }) => setCaseRef(currentTarget.value)}
            />
          </label>
          <DialogActions
            name="Restrict"
            isBusy={action.isBusy}
            isDisabled={chosen === undefined}
            onCancel={onClose}
          />
        </form>
      )}
      <ActionFailure action={action} />
    </Dialog>
  )
}
