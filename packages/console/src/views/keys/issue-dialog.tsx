/** Creates a key. */
import { contactFields, contactRoleNames } from '@property-events/protocol/plain'
import { useState } from 'preact/hooks'
import { Dialog, DialogActions } from '../../parts/dialog.tsx'
import { createKey } from '../../service/operations/keys.ts'
import type { IssuedKey as Issued } from '@property-events/protocol/wire'
import { useAction } from '../../service/use-action.ts'
import { signedIn } from '../../session/session.ts'
import { ActionFailure } from '../sign-in/action-failure.tsx'
import { IssuedKey } from './issued-key.tsx'
import { Checks, TextFields } from './key-fields.tsx'
import type { FieldsProps } from './key-fields.tsx'
import { givenBy, givesElsewhere } from './key-scopes.ts'
import { emptyForm, readKeyForm, serviceFaults } from './new-key.ts'
import type { KeyFault, KeyForm } from './new-key.ts'

interface Props {
  /** Without one, an operator key. */
  readonly tenantId: string | undefined
  readonly onClose: () => void
}

export function IssueDialog({ tenantId, onClose }: Props) {
  const giver = signedIn().key
  const [form, setForm] = useState<KeyForm>(
    tenantId === undefined ? { ...emptyForm, scopes: ['admin:inspect'] } : emptyForm,
  )
  const [own, setFaults] = useState<readonly KeyFault[]>([])
  const action = useAction<Issued>()
  if (action.done !== undefined) {
    return (
      <Dialog title="The new key" onClose={onClose}>
        <IssuedKey issued={action.done} tenantId={tenantId} />
      </Dialog>
    )
  }
  function submit(event: Event): void {
    event.preventDefault()
    const reading = readKeyForm(form, tenantId, giver, Date.now())
    setFaults(reading.kind === 'faults' ? reading.faults : [])
    if (reading.kind === 'body') void action.run(createKey(reading.body))
  }
  const change = (part: Partial<KeyForm>): void => setForm((before) => ({ ...before, ...part }))
  const faults = [...own, ...serviceFaults(action.failure?.errors ?? [])]
  const fields = { form, faults, change }
  const limits = [
    ...(tenantId === undefined ? [] : (['branches'] as const)),
    ...(tenantId !== undefined && givesElsewhere(giver, tenantId) ? (['tenants'] as const) : []),
    'networks',
    'perSecond',
    'burst',
  ] as const
  return (
    <Dialog title={tenantId === undefined ? 'Issue an operator key' : 'Issue a key'} onClose={onClose}>
      <form class="dialog-form" onSubmit={submit} noValidate>
        <TextFields of={['label']} {...fields} />
        <Checks
          name="Scopes"
          among={givenBy(giver, tenantId)}
          chosen={form.scopes}
          onChoice={(scopes) => change({ scopes })}
          fault={faults.find(({ field }) => field === 'scopes')?.message}
        />
        <TextFields of={['ends']} {...fields} />
        {form.scopes.includes('contact:read') && <ContactLimits form={form} change={change} />}
        <details open={faults.some(({ field }) => limits.some((one) => one === field))}>
          <summary>More limits</summary>
          <TextFields of={limits} {...fields} />
        </details>
        <DialogActions name="Issue the key" isBusy={action.isBusy} onCancel={onClose} />
      </form>
      <ActionFailure action={action} />
    </Dialog>
  )
}

function ContactLimits({ form, change }: Pick<FieldsProps<KeyForm>, 'form' | 'change'>) {
  return (
    <details>
      <summary>Limit to some contacts or fields</summary>
      <Checks
        name="Roles (none selected: all contacts)"
        among={contactRoleNames.map((scope) => ({ scope }))}
        chosen={form.roles}
        onChoice={(roles) => change({ roles })}
      />
      <Checks
        name="Fields (none selected: all except notes)"
        among={contactFields.map((scope) => ({ scope }))}
        chosen={form.fields}
        onChoice={(fields) => change({ fields })}
      />
    </details>
  )
}
