/** The parts of the forms for keys. */
import { Field } from '../../parts/field.tsx'
import type { ChangeForm, KeyFault, KeyForm } from './new-key.ts'

export interface FieldsProps<Form> {
  readonly form: Form
  readonly faults: readonly KeyFault[]
  readonly change: (part: Partial<Form>) => void
}

type TextName = Exclude<keyof KeyForm, 'scopes' | 'roles' | 'fields'>

const names: Readonly<Record<TextName, string>> = {
  label: 'Label: what uses the key',
  ends: 'Expires (optional)',
  perSecond: 'Requests per second (optional)',
  burst: 'Requests at once, with a rate (optional)',
  networks: 'Allowed IP addresses or networks, one per line (optional)',
  branches: 'Branches, one per line (optional)',
  tenants: 'Other agencies, one id per line (optional)',
}

/** Some of them, in this order. */
export function TextFields<Form extends ChangeForm>({
  of,
  form,
  faults,
  change,
}: FieldsProps<Form> & { readonly of: readonly (TextName & keyof Form)[] }) {
  return of.map((name) => (
    <Field
      key={name}
      id={`key-${name}`}
      name={names[name]}
      value={String(form[name])}
      onValue={(value) => change({ ...form, [name]: value })}
      fault={faults.find(({ field }) => field === name)?.message}
      isTime={name === 'ends'}
      rows={['networks', 'branches', 'tenants'].includes(name) ? 3 : undefined}
    />
  ))
}

interface ChecksProps {
  readonly name: string
  readonly among: readonly { readonly scope: string; readonly says?: string }[]
  readonly chosen: readonly string[]
  readonly onChoice: (chosen: readonly string[]) => void
  readonly fault?: string | undefined
}

/** Any number of a few. */
export function Checks({ name, among, chosen, onChoice, fault }: ChecksProps) {
  return (
    <fieldset>
      <legend>{name}</legend>
      {among.map(({ scope, says }) => (
        <label key={scope}>
          <input
            type="checkbox"
            checked={chosen.includes(scope)}
            onChange={({ currentTarget: { checked } }) =>
              onChoice([...chosen.filter((one) => one !== scope), ...(checked ? [scope] : [])])
            }
          />{' '}
          {says} <code class="quiet">{scope}</code>
        </label>
      ))}
      {fault !== undefined && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
    </fieldset>
  )
}
