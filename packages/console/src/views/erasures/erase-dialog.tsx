/** Erasing: the dialog first counts what it would erase, and the user types the reference again. */
import { useState } from 'preact/hooks'
import { erasureReasons } from '@property-events/protocol/plain'
import type { Erasure, ErasureCount, ErasureRequest } from '@property-events/protocol/wire'
import { isFeedName } from '../../base.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { countErased, erase } from '../../service/operations/erasures.ts'
import type { ErasurePlace } from '../../service/operations/erasures.ts'
import { useAction } from '../../service/use-action.ts'
import { counted } from '../../words/numbers.ts'
import { ActionTrouble } from '../sign-in/action-trouble.tsx'
import { isTypedAgain, readErasureForm, reasonWords, stateWords } from './erasure-form.ts'
import type { ErasureFault, ErasureForm } from './erasure-form.ts'

interface Props {
  readonly place: ErasurePlace
  readonly onClose: () => void
}

export function EraseDialog({ place, onClose }: Props) {
  const [form, setForm] = useState<ErasureForm>({ feed: 'contact', subjectId: '', reason: '', caseRef: '' })
  const [faults, setFaults] = useState<readonly ErasureFault[]>([])
  const [body, setBody] = useState<ErasureRequest>()
  const count = useAction<ErasureCount>()
  function submit(event: Event): void {
    event.preventDefault()
    const reading = readErasureForm(form)
    setFaults(reading.kind === 'faults' ? reading.faults : [])
    if (reading.kind === 'faults') return
    setBody(reading.body)
    void count.run(countErased(place, reading.body))
  }
  return (
    <Dialog title="Erase for good" onClose={onClose}>
      {count.done !== undefined && body !== undefined ? (
        <Again place={place} form={form} body={body} events={count.done.events} />
      ) : (
        <form class="key-action" onSubmit={submit} noValidate>
          <Fields form={form} change={(part) => setForm((before) => ({ ...before, ...part }))} />
          {faults.map(({ field, message }) => (
            <p key={field} class="fault" role="alert">
              {message}
            </p>
          ))}
          <button class="main" type="submit" disabled={count.isBusy}>
            {count.isBusy ? 'Waiting for the service …' : 'Count what it takes'}
          </button>
          <p class="quiet">Nothing is erased yet.</p>
        </form>
      )}
      <ActionTrouble action={count} />
    </Dialog>
  )
}

interface FieldsProps {
  readonly form: ErasureForm
  readonly change: (part: Partial<ErasureForm>) => void
}

function Fields({ form, change }: FieldsProps) {
  return (
    <>
      <label>
        What
        <select
          value={form.feed}
          onChange={({ currentTarget: { value } }) => change({ feed: isFeedName(value) ? value : form.feed })}
        >
          <option value="contact">a contact</option>
          <option value="property">a property</option>
        </select>
      </label>
      <label>
        Its reference
        <input
          autoComplete="off"
          spellcheck={false}
          value={form.subjectId}
          onInput={({ currentTarget }) => change({ subjectId: currentTarget.value })}
        />
      </label>
      <label>
        Why
        <select value={form.reason} onChange={({ currentTarget }) => change({ reason: currentTarget.value })}>
          <option value="">Choose a reason</option>
          {erasureReasons.map((reason) => (
            <option key={reason} value={reason}>
              {reasonWords(reason)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Your reference of the case, without a name (none: empty)
        <input
          autoComplete="off"
          value={form.caseRef}
          onInput={({ currentTarget }) => change({ caseRef: currentTarget.value })}
        />
      </label>
    </>
  )
}

interface AgainProps {
  readonly place: ErasurePlace
  readonly form: ErasureForm
  readonly body: ErasureRequest
  readonly events: number
}

function Again({ place, form, body, events }: AgainProps) {
  const [typed, type] = useState('')
  const action = useAction<Erasure>()
  if (action.done !== undefined) {
    return (
      <p role="status">It {stateWords(action.done)}. The list shows how far it is, and has the receipt.</p>
    )
  }
  return (
    <>
      <form
        class="key-action"
        onSubmit={(event) => {
          event.preventDefault()
          if (isTypedAgain(form, typed)) void action.run(erase(place, body))
        }}
      >
        <p>
          It takes the payloads of <strong>{counted(events, 'event')}</strong> out of the feed, and tells
          every site to take the {body.feed} down. It cannot be undone.
        </p>
        <label>
          Type the reference again
          <input
            autoComplete="off"
            spellcheck={false}
            value={typed}
            onInput={({ currentTarget }) => type(currentTarget.value)}
          />
        </label>
        <button class="main" type="submit" disabled={!isTypedAgain(form, typed) || action.isBusy}>
          {action.isBusy ? 'Waiting for the service …' : 'Erase for good'}
        </button>
      </form>
      <ActionTrouble action={action} />
    </>
  )
}
