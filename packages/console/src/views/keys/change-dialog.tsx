/** Changes a key's label, its end, its rate and the networks it works from. */
import { useEffect, useState } from 'preact/hooks'
import { Dialog, DialogActions } from '../../parts/dialog.tsx'
import type { Key } from '@property-events/protocol/wire'
import { changeKey } from '../../service/operations/keys.ts'
import { useAction } from '../../service/use-action.ts'
import { oneLine } from '../../words/plain.ts'
import { ActionFailure } from '../sign-in/action-failure.tsx'
import { TextFields } from './key-fields.tsx'
import { changeFormOf, readKeyChange, serviceFaults } from './new-key.ts'
import type { ChangeForm, KeyFault } from './new-key.ts'

interface Props {
  readonly keyToChange: Key
  readonly onClose: () => void
}

export function ChangeDialog({ keyToChange, onClose }: Props) {
  const [form, setForm] = useState<ChangeForm>(() => changeFormOf(keyToChange))
  const [faults, setFaults] = useState<readonly KeyFault[]>([])
  const action = useAction<Key>()
  const isDone = action.done !== undefined
  useEffect(() => {
    if (isDone) onClose()
  }, [isDone])
  function submit(event: Event): void {
    event.preventDefault()
    const reading = readKeyChange(form, keyToChange, Date.now())
    setFaults(reading.kind === 'faults' ? reading.faults : [])
    if (reading.kind === 'body') void action.run(changeKey(keyToChange.keyId, reading.body))
  }
  return (
    <Dialog title={`Change ${oneLine(keyToChange.label, 80) || keyToChange.keyId}`} onClose={onClose}>
      <form class="dialog-form" onSubmit={submit} noValidate>
        <TextFields
          of={['label', 'ends', 'networks', 'perSecond', 'burst']}
          form={form}
          faults={[...faults, ...serviceFaults(action.failure?.errors ?? [])]}
          change={(part) => setForm({ ...form, ...part })}
        />
        <DialogActions name="Save changes" isBusy={action.isBusy} onCancel={onClose} />
      </form>
      <ActionFailure action={action} />
    </Dialog>
  )
}
