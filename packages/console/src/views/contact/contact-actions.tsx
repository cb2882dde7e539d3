/** What can be done with a contact: see it in full, export, restrict and erase it. What the key may not do says where it is done. */
import { useState } from 'preact/hooks'
import { restrictionReasons } from '@property-events/protocol/plain'
import type { Restriction } from '@property-events/protocol/wire'
import { Copy, saveFile } from '../../parts/copy.tsx'
import { Dialog, DialogActions } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import type { IconName } from '../../parts/icon-drawings.ts'
import { Problem } from '../../parts/answer.tsx'
import { call } from '../../service/call.ts'
import type { Failure } from '../../service/failure.ts'
import { readHistory } from '../../service/operations/feeds.ts'
import { hasScope, mayAdminister } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { EraseDialog } from '../erasures/erase-dialog.tsx'
import { exportOf, readWhole } from './full-contact.ts'
import { restrictContact } from '../../service/operations/privacy.ts'
import { useAction } from '../../service/use-answer.ts'
import { ActionFailure } from '../sign-in/action-failure.tsx'
import { reasonWords } from '../erasures/erasure-form.ts'

interface Props {
  readonly tenantId: string
  readonly contactRef: string
  /** Begins to show it in full; `undefined`: it is shown, or the key may not. */
  readonly reveal: (() => void) | undefined
}

type Open = 'restrict' | 'erase' | 'export-elsewhere' | 'restrict-elsewhere' | 'erase-elsewhere'

export function ContactActions({ tenantId, contactRef, reveal }: Props) {
  const { key } = signedIn()
  const [open, setOpen] = useState<Open>()
  const [failure, setFailure] = useState<Failure>()
  const isReader = hasScope(key, 'contact:read', tenantId)
  const isEraser = hasScope(key, 'contact:erase', tenantId)
  const erases = isEraser || mayAdminister(key, 'admin:erase', tenantId)
  const close = (): void => setOpen(undefined)
  async function download(): Promise<void> {
    const address = { tenantId, feed: 'contact', door: 'own' } as const
    const outcome = await readWhole((after) => call(readHistory(address, contactRef, { after, limit: 200 })))
    setFailure(outcome.kind === 'failure' ? outcome.failure : undefined)
    if (outcome.kind === 'events') {
      saveFile(`contact-${contactRef}.json`, exportOf(tenantId, contactRef, outcome.events, new Date()))
    }
  }
  return (
    <>
      <p class="contact-actions">
        {reveal !== undefined && <Act icon="show" name="Show in full …" act={reveal} />}
        <Act
          icon="download"
          name={isReader ? 'Export' : 'Export …'}
          act={() => (isReader ? void download() : setOpen('export-elsewhere'))}
        />
        <Act
          icon="restrict"
          name="Restrict …"
          act={() => setOpen(isEraser ? 'restrict' : 'restrict-elsewhere')}
        />
        <Act icon="erase" name="Erase …" isDanger act={() => setOpen(erases ? 'erase' : 'erase-elsewhere')} />
      </p>
      {failure !== undefined && <Problem failure={failure} />}
      {open === 'erase' && (
        <EraseDialog
          address={{ tenantId, door: isEraser ? 'own' : 'admin' }}
          subject={{ feed: 'contact', subjectId: contactRef }}
          onClose={close}
        />
      )}
      {open === 'restrict' && <RestrictDialog tenantId={tenantId} contactRef={contactRef} onClose={close} />}
      {open?.endsWith('-elsewhere') === true && (
        <Elsewhere
          act={open === 'export-elsewhere' ? 'export' : open === 'erase-elsewhere' ? 'erase' : 'restrict'}
          tenantId={tenantId}
          contactRef={contactRef}
          onClose={close}
        />
      )}
    </>
  )
}

interface ActProps {
  readonly icon: IconName
  readonly name: string
  readonly isDanger?: boolean
  readonly act: () => void
}

function Act({ icon, name, isDanger, act }: ActProps) {
  return (
    <button type="button" class={isDanger === true ? 'danger' : undefined} onClick={act}>
      <Icon name={icon} /> {name}
    </button>
  )
}

const elsewhere = {
  export: {
    title: 'Export this contact',
    why: 'Your key cannot read the contact feed: a key with contact:read exports the events here. Everything that is held, with the keys that were sent the contact, is printed on the machine of the service by:',
  },
  restrict: {
    title: 'Restrict this contact',
    why: 'Only a key of the agency with contact:erase restricts contacts. Sign in with it, or run with it:',
  },
  erase: {
    title: 'Erase this contact',
    why: 'Only a key of the agency with contact:erase, or an operator key with admin:erase, erases contacts. Sign in with it, or run with a key of the agency:',
  },
} as const

interface ElsewhereProps {
  readonly act: keyof typeof elsewhere
  readonly tenantId: string
  readonly contactRef: string
  readonly onClose: () => void
}

/** The command for what the key of the session may not do. */
function Elsewhere({ act, tenantId, contactRef, onClose }: ElsewhereProps) {
  const { title, why } = elsewhere[act]
  const where = act === 'export' ? `--tenant ${tenantId} --json` : `--url ${signedIn().serviceUrl}`
  const command = `property-events contacts ${act} ${contactRef} ${where}`
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{why}</p>
      <pre class="command">{command}</pre>
      <p>
        <Copy text={command} name="Copy the command" />
      </p>
    </Dialog>
  )
}

interface RestrictDialogProps {
  readonly tenantId: string
  readonly contactRef: string
  readonly onClose: () => void
}

/** Restricts a contact: it is kept, and no answer shows it. */
function RestrictDialog({ tenantId, contactRef, onClose }: RestrictDialogProps) {
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
