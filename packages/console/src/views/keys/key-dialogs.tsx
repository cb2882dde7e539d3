/** What is done with keys: issued, replaced, changed and revoked. */
import { contactFields, contactRoleNames } from '@property-events/protocol/plain'
import { useState } from 'preact/hooks'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { changeKey, createKey, revokeKey, rotateKey } from '../../service/operations/keys.ts'
import type { IssuedKey as Issued, Key, RotatedKey } from '@property-events/protocol/wire'
import type { Operation } from '../../service/operation.ts'
import { signedIn } from '../../session/session.ts'
import { Checks, TextFields } from './key-fields.tsx'
import type { FieldsProps } from './key-fields.tsx'
import { givenBy, givesElsewhere } from './key-scopes.ts'
import {
  changeFormOf,
  emptyForm,
  firstRequest,
  readKeyChange,
  readKeyForm,
  serviceFaults,
} from './new-key.ts'
import type { ChangeForm, KeyFault, KeyForm } from './new-key.ts'
import { Copy } from '../../parts/copy.tsx'
import { now } from '../../state/clock.ts'
import { oneLine } from '../../words/plain.ts'
import { readTime } from '../../words/times.ts'
import { leftText } from './key-state.ts'
import { Age } from '../../parts/age.tsx'

interface IssueDialogProps {
  /** Without one, an operator key. */
  readonly tenantId: string | undefined
  readonly onClose: () => void
}

/** Creates a key. */
export function IssueDialog({ tenantId, onClose }: IssueDialogProps) {
  const giver = signedIn().key
  const [form, setForm] = useState<KeyForm>(
    tenantId === undefined ? { ...emptyForm, scopes: ['admin:inspect'] } : emptyForm,
  )
  const [own, setFaults] = useState<readonly KeyFault[]>([])
  function operation(): Operation<Issued> | undefined {
    const reading = readKeyForm(form, tenantId, giver, Date.now())
    setFaults(reading.kind === 'faults' ? reading.faults : [])
    return reading.kind === 'body' ? createKey(reading.body) : undefined
  }
  const change = (part: Partial<KeyForm>): void => setForm((before) => ({ ...before, ...part }))
  const limits = [
    ...(tenantId === undefined ? [] : (['branches'] as const)),
    ...(tenantId !== undefined && givesElsewhere(giver, tenantId) ? (['tenants'] as const) : []),
    'networks',
    'perSecond',
    'burst',
  ] as const
  return (
    <ActDialog
      title={tenantId === undefined ? 'Issue an operator key' : 'Issue a key'}
      name="Issue the key"
      operation={operation}
      shown={(issued) => <IssuedKey issued={issued} tenantId={tenantId} />}
      onClose={onClose}
    >
      {({ failure }) => {
        const faults = [...own, ...serviceFaults(failure?.errors ?? [])]
        const fields = { form, faults, change }
        return (
          <>
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
          </>
        )
      }}
    </ActDialog>
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

interface IssuedKeyProps {
  readonly issued: Key & { readonly key: string }
  readonly tenantId: string | undefined
}

/** A new key, shown only this once, with a request to try it. */
function IssuedKey({ issued, tenantId }: IssuedKeyProps) {
  const { serviceUrl } = signedIn()
  const own = issued.grants.find((grant) => grant.tenantId === tenantId) ?? issued.grants[0]
  const request = firstRequest({
    text: issued.key,
    operator: issued.operator,
    scopes: own?.scopes ?? [],
    tenantId: issued.grants.length > 1 ? own?.tenantId : undefined,
    serviceUrl,
  })
  return (
    <div class="issued">
      <p role="status">
        <strong>Copy the key now: it will not be shown again.</strong>
      </p>
      <p>
        <code class="secret">{issued.key}</code> <Copy text={issued.key} name="Copy the key" />
      </p>
      <p>To try it:</p>
      <pre>{request}</pre>
      <p>
        <Copy text={request} label="Copy the request" />
      </p>
    </div>
  )
}

interface RotateDialogProps {
  readonly keyToReplace: Key
  readonly tenantId: string | undefined
  readonly onClose: () => void
}

const overlaps = [
  [24, 'a day'],
  [72, '3 days'],
  [168, 'a week'],
  [720, '30 days'],
  [1, 'an hour'],
  [0, '0 minutes: it ends at once'],
] as const

/** Creates a key that replaces another one, which keeps working for a while. */
export function RotateDialog({ keyToReplace: { keyId, label }, tenantId, onClose }: RotateDialogProps) {
  const [hours, setHours] = useState(24)
  return (
    <ActDialog<RotatedKey>
      title={`Rotate ${oneLine(label, 80) || keyId}`}
      name="Rotate key"
      operation={() => rotateKey(keyId, hours)}
      shown={(rotated) => (
        <>
          <IssuedKey issued={rotated} tenantId={tenantId} />
          <p>{endWords(rotated.replaced.expiresAt, now.value)}</p>
        </>
      )}
      onClose={onClose}
    >
      <p>Creates a new key with the same scopes and limits. Give it to the program that uses the old one.</p>
      <label>
        The old key keeps working for
        <select value={hours} onChange={({ currentTarget }) => setHours(Number(currentTarget.value))}>
          {overlaps.map(([value, says]) => (
            <option key={value} value={value}>
              {says}
            </option>
          ))}
        </select>
      </label>
    </ActDialog>
  )
}

function endWords(expiresAt: string | null, nowMs: number): string {
  const endsMs = readTime(expiresAt)
  if (endsMs === undefined) return 'The previous key does not expire.'
  return endsMs <= nowMs
    ? 'The previous key has ended.'
    : `The previous key ends in ${leftText(endsMs - nowMs)}.`
}

interface ChangeDialogProps {
  readonly keyToChange: Key
  readonly onClose: () => void
}

/** Changes a key's label, its end, its rate and the networks it works from. */
export function ChangeDialog({ keyToChange, onClose }: ChangeDialogProps) {
  const [form, setForm] = useState<ChangeForm>(() => changeFormOf(keyToChange))
  const [faults, setFaults] = useState<readonly KeyFault[]>([])
  function operation(): Operation<Key> | undefined {
    const reading = readKeyChange(form, keyToChange, Date.now())
    setFaults(reading.kind === 'faults' ? reading.faults : [])
    return reading.kind === 'body' ? changeKey(keyToChange.keyId, reading.body) : undefined
  }
  return (
    <ActDialog
      title={`Change ${oneLine(keyToChange.label, 80) || keyToChange.keyId}`}
      name="Save changes"
      operation={operation}
      onClose={onClose}
    >
      {({ failure }) => (
        <TextFields
          of={['label', 'ends', 'networks', 'perSecond', 'burst']}
          form={form}
          faults={[...faults, ...serviceFaults(failure?.errors ?? [])]}
          change={(part) => setForm({ ...form, ...part })}
        />
      )}
    </ActDialog>
  )
}

interface RevokeDialogProps {
  readonly keyToRevoke: Key
  readonly onClose: () => void
}

/** Ends a key for good, after a confirmation. */
export function RevokeDialog({ keyToRevoke: { keyId, label, lastUsedAt }, onClose }: RevokeDialogProps) {
  return (
    <ActDialog
      title={`Revoke ${oneLine(label, 80) || keyId}`}
      name="Revoke key"
      isDanger
      operation={() => revokeKey(keyId)}
      onClose={onClose}
    >
      <p>
        Last used: <Age at={lastUsedAt} />. Clients using it are refused within 2 seconds. This cannot be
        undone.
      </p>
    </ActDialog>
  )
}
