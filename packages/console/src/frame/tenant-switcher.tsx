/** Shows the present tenant, and lets the user choose another one among ten thousand. */
import { useLocation } from 'preact-iso/router'
import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { Picker } from '../parts/picker.tsx'
import type { Choice } from '../parts/picker.tsx'
import { Problem } from '../parts/answer.tsx'
import { base, hrefOf } from '../root.ts'
import { mayAdminister, seesAllTenants } from '../session/access.ts'
import { signedIn } from '../session/session.ts'
import { getTenant, listTenants } from '../service/operations/tenants.ts'
import { useAnswer } from '../service/use-answer.ts'
import { firstPath, mayOpen, sameViewOf } from '../views/open-paths.ts'
import { oneLine } from '../words/plain.ts'

/** `tenantId`: the present one. */
export function TenantSwitcher({ tenantId }: { readonly tenantId: string | undefined }) {
  const [isOpen, setOpen] = useState(false)
  const { key } = signedIn()
  if (!seesAllTenants(key) && key.grants.length < 2) return null
  const close = (): void => setOpen(false)
  return (
    <>
      <button type="button" class="tenant" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <span>{tenantId === undefined ? 'Choose an agency' : <TenantName tenantId={tenantId} />}</span> ▾
      </button>
      {isOpen && (
        <Dialog title="Agencies" onClose={close}>
          {seesAllTenants(key) ? <Search onChosen={close} /> : <Granted onChosen={close} />}
        </Dialog>
      )}
    </>
  )
}

/** Its name, if the session may know it; else its id. */
export function TenantName({ tenantId }: { readonly tenantId: string }) {
  const isInspector = mayAdminister(signedIn().key, 'admin:inspect', tenantId)
  const { value } = useAnswer(isInspector ? getTenant(tenantId) : undefined)
  return <>{oneLine(value?.name ?? `Agency ${tenantId.slice(0, 8)}`)}</>
}

interface ChoiceProps {
  readonly onChosen: () => void
}

function Search({ onChosen }: ChoiceProps) {
  const [search, setSearch] = useState('')
  const { path } = useLocation()
  const { value, failure, askAgain } = useAnswer(
    listTenants({ search: search.trim() || undefined, order: 'lastPublish', limit: 30 }),
  )
  const choices = (value?.items ?? []).map(({ tenantId, name, reference }): Choice => ({
    href: hrefIn(path, tenantId),
    name: oneLine(name),
    note: oneLine(reference ?? ''),
  }))
  return (
    <Picker
      label="Name, reference or id of an agency"
      text={search}
      onText={setSearch}
      choices={choices}
      onChosen={onChosen}
    >
      {failure !== undefined && <Problem failure={failure} again={askAgain} />}
      <p class="quiet" role="status">
        {value === undefined && 'Searching …'}
        {value?.items.length === 0 && 'No results.'}
        {value !== undefined && value.next !== null && 'First 30 shown. Type a part of the name for more.'}
      </p>
    </Picker>
  )
}

function Granted({ onChosen }: ChoiceProps) {
  const [search, setSearch] = useState('')
  const { path } = useLocation()
  const choices = signedIn()
    .key.grants.filter(({ tenantId }) => tenantId.startsWith(search.trim().toLowerCase()))
    .map(({ tenantId }): Choice => ({
      href: hrefIn(path, tenantId),
      name: <TenantName tenantId={tenantId} />,
      note: tenantId,
    }))
  return (
    <Picker label="Id of an agency" text={search} onText={setSearch} choices={choices} onChosen={onChosen} />
  )
}

/** The same view of another agency, if the session may see it there. */
function hrefIn(path: string, tenantId: string): string {
  const { key } = signedIn()
  const same = sameViewOf(path, tenantId)
  return same !== undefined && mayOpen(key, same.slice(base.length)) ? same : hrefOf(firstPath(key, tenantId))
}
