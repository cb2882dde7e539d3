/** Making a key. */
import { useState } from 'preact/hooks'
import { Dialog } from '../../parts/dialog.tsx'
import { createKey } from '../../service/operations/keys.ts'
import type { IssuedKey as Issued } from '../../service/operations/keys.ts'
import { signedIn } from '../../session/session.ts'
import { ActionTrouble } from '../sign-in/action-trouble.tsx'
import { IssuedKey } from './issued-key.tsx'
import { givenBy } from './key-scopes.ts'
import { emptyForm, readKeyForm } from './new-key.ts'
import type { KeyFault, KeyForm } from './new-key.ts'
import { useAction } from '../../service/use-action.ts'

interface Props {
  /** Without one, an operator key. */
  readonly tenantId: string | undefined
  readonly onClose: () => void
}

export function IssueDialog({ tenantId, onClose }: Props) {
  const [form, setForm] = useState<KeyForm>(
    tenantId === undefined ? { ...emptyForm, scopes: ['admin:inspect'] } : emptyForm,
  )
  const [faults, setFaults] = useState<readonly KeyFault[]>([])
  const action = useAction<Issued>()
  const change = (part: Partial<KeyForm>): void => setForm((before) => ({ ...before, ...part }))
  if (action.done !== undefined) {
    return (
      <Dialog title="The new key" onClose={onClose}>
        <IssuedKey issued={action.done} tenantId={tenantId} />
      </Dialog>
    )
  }
  function submit(event: Event): void {
    event.preventDefault()
    const reading = readKeyForm(form, tenantId, Date.now())
    setFaults(reading.kind === 'faults' ? reading.faults : [])
    if (reading.kind === 'body') void action.run(createKey(reading.body))
  }
  return (
    <Dialog title={tenantId === undefined ? 'Issue an operator key' : 'Issue a key'} onClose={onClose}>
      <form class="key-action" onSubmit={submit} noValidate>
        <TextField id="label" name="What will use it" form={form} faults={faults} change={change} />
        <Scopes form={form} faults={faults} change={change} tenantId={tenantId} />
        <TextField
          id="days"
          name="Days until it ends (none: no end)"
          form={form}
          faults={faults}
          change={change}
        />
        <details open={faults.some(({ field }) => field === 'branches' || field === 'networks')}>
          <summary>Limit it further</summary>
          {tenantId !== undefined && (
            <TextField
              id="branches"
              name="Branches, one a line (none: all)"
              form={form}
              faults={faults}
              change={change}
            />
          )}
          <TextField
            id="networks"
            name="Addresses or networks, one a line (none: any)"
            form={form}
            faults={faults}
            change={change}
          />
        </details>
        <button class="main" type="submit" disabled={action.isBusy}>
          {action.isBusy ? 'Waiting for the service …' : 'Issue the key'}
        </button>
      </form>
      <ActionTrouble action={action} />
    </Dialog>
  )
}

interface FieldProps {
  readonly form: KeyForm
  readonly faults: readonly KeyFault[]
  readonly change: (part: Partial<KeyForm>) => void
}

type TextFieldName = Exclude<keyof KeyForm, 'scopes'>

function TextField({
  id,
  name,
  form,
  faults,
  change,
}: FieldProps & { readonly id: TextFieldName; readonly name: string }) {
  const fault = faults.find(({ field }) => field === id)
  const shared = {
    id: `key-${id}`,
    value: form[id],
    'aria-invalid': fault !== undefined,
    'aria-describedby': fault === undefined ? undefined : `key-${id}-fault`,
  }
  const isLong = id === 'branches' || id === 'networks'
  return (
    <>
      <label for={`key-${id}`}>{name}</label>
      {isLong ? (
        <textarea
          {...shared}
          rows={3}
          onInput={({ currentTarget }) => change({ [id]: currentTarget.value })}
        />
      ) : (
        <input
          {...shared}
          autoComplete="off"
          onInput={({ currentTarget }) => change({ [id]: currentTarget.value })}
        />
      )}
      <Fault id={`key-${id}-fault`} fault={fault} />
    </>
  )
}

function Scopes({ form, faults, change, tenantId }: FieldProps & { readonly tenantId: string | undefined }) {
  const choices = givenBy(signedIn().key, tenantId)
  const fault = faults.find(({ field }) => field === 'scopes')
  const toggle = (scope: string, on: boolean): void =>
    change({ scopes: [...form.scopes.filter((one) => one !== scope), ...(on ? [scope] : [])] })
  return (
    <fieldset>
      <legend>What it may do</legend>
      {choices.map(({ scope, says }) => (
        <label key={scope}>
          <input
            type="checkbox"
            checked={form.scopes.includes(scope)}
            onChange={({ currentTarget }) => toggle(scope, currentTarget.checked)}
          />{' '}
          {says} <code class="quiet">{scope}</code>
        </label>
      ))}
      <Fault id="key-scopes-fault" fault={fault} />
    </fieldset>
  )
}

function Fault({ id, fault }: { readonly id: string; readonly fault: KeyFault | undefined }) {
  return fault === undefined ? null : (
    <p id={id} class="fault" role="alert">
      {fault.message}
    </p>
  )
}
