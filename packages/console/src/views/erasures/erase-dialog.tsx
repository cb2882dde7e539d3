/** Erasing: the dialog first counts what it would erase, and the user types the reference again. */
import { useState } from 'preact/hooks'
import { erasureReasons } from '@property-events/protocol/plain'
import type { Erasure, ErasureCount, ErasureRequest } from '@property-events/protocol/wire'
import { isFeedName } from '../../base.ts'
import type { FeedName } from '../../base.ts'
import { Dialog, DialogActions } from '../../parts/dialog.tsx'
import { countErased, erase } from '../../service/operations/privacy.ts'
import type { ErasureAddress } from '../../service/operations/privacy.ts'
import { useAction } from '../../service/use-answer.ts'
import { erasableFeeds } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { counted } from '../../words/numbers.ts'
import { ActionFailure } from '../sign-in/action-failure.tsx'
import { isTypedAgain, readErasureForm, reasonWords, stateWords } from './erasure-form.ts'
import type { ErasureFault, ErasureForm } from './erasure-form.ts'

interface Props {
  readonly address: ErasureAddress
  /** What to erase, if it is known. */
  readonly subject?: Pick<ErasureForm, 'feed' | 'subjectId'>
  readonly onClose: () => void
}

export function EraseDialog({ address, subject, onClose }: Props) {
  const feeds = erasableFeeds(signedIn().key, address.tenantId)
  const [form, setForm] = useState<ErasureForm>({
    feed: feeds[0] ?? 'contact',
    subjectId: '',
    reason: '',
    caseRef: '',
    ...subject,
  })
  const [faults, setFaults] = useState<readonly ErasureFault[]>([])
  const [body, setBody] = useState<ErasureRequest>()
  const count = useAction<ErasureCount>()
  function submit(event: Event): void {
    event.preventDefault()
    const reading = readErasureForm(form)
    setFaults(reading.kind === 'faults' ? reading.faults : [])
    if (reading.kind === 'faults') return
    setBody(reading.body)
    void count.run(countErased(address, reading.body))
  }
  return (
    <Dialog title="Erase permanently" onClose={onClose}>
      {count.done !== undefined && body !== undefined ? (
        <Again address={address} form={form} body={body} events={count.done.events} onClose={onClose} />
      ) : (
        <form class="dialog-form" onSubmit={submit} noValidate>
          <Fields
            feeds={feeds}
            form={form}
            change={(part) => setForm((before) => ({ ...before, ...part }))}
          />
          {faults.map(({ field, message }) => (
            <p key={field} class="fault" role="alert">
              {message}
            </p>
          ))}
          <p class="quiet">The preview erases nothing.</p>
          <DialogActions name="Preview erasure" isBusy={count.isBusy} onCancel={onClose} />
        </form>
      )}
      <ActionFailure action={count} />
    </Dialog>
  )
}

interface FieldsProps {
  /** Of which the session may erase something. */
  readonly feeds: readonly FeedName[]
  readonly form: ErasureForm
  readonly change: (part: Partial<ErasureForm>) => void
}

function Fields({ feeds, form, change }: FieldsProps) {
  return (
    <>
      <label>
        Subject
        <select
          value={form.feed}
          onChange={({ currentTarget: { value } }) => change({ feed: isFeedName(value) ? value : form.feed })}
        >
          {feeds.map((feed) => (
            <option key={feed} value={feed}>
              {feed === 'contact' ? 'Contact' : 'Property'}
            </option>
          ))}
        </select>
      </label>
      <label>
        Reference
        <input
          autoComplete="off"
          spellcheck={false}
          value={form.subjectId}
          onInput={({ currentTarget }) => change({ subjectId: currentTarget.value })}
        />
      </label>
      <label>
        Reason
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
        Case reference (optional, no personal names)
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
  readonly address: ErasureAddress
  readonly form: ErasureForm
  readonly body: ErasureRequest
  readonly events: number
  readonly onClose: () => void
}

function Again({ address, form, body, events, onClose }: AgainProps) {
  const [typed, type] = useState('')
  const action = useAction<Erasure>()
  if (action.done !== undefined) {
    return (
      <p role="status">
        State: {stateWords(action.done)}. The page Erasures shows the progress, and has the receipt.
      </p>
    )
  }
  return (
    <>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (isTypedAgain(form, typed)) void action.run(erase(address, body))
        }}
      >
        <p>
          This removes the payloads of <strong>{counted(events, 'event')}</strong> from the feed, and tells
          every consumer to remove the {body.feed}. It cannot be undone.
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
        <DialogActions
          name="Erase permanently"
          isBusy={action.isBusy}
          isDisabled={!isTypedAgain(form, typed)}
          isDanger
          onCancel={onClose}
        />
      </form>
      <ActionFailure action={action} />
    </>
  )
}
