/** Shows the present tenant, and lets the user choose another one among ten thousand. */
import { useLocation } from 'preact-iso/router'
import { useState } from 'preact/hooks'
import { Answer } from '../parts/answer.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { base, hrefOf } from '../root.ts'
import { mayAdminister, seesAllTenants } from '../session/access.ts'
import { signedIn } from '../session/session.ts'
import { getTenant, listTenants } from '../service/operations/tenants.ts'
import { useAnswer } from '../service/use-answer.ts'
import { chosenTenant } from '../state/chosen-tenant.ts'
import { firstPlace, mayOpen } from '../views/open-places.ts'
import { oneLine } from '../words/plain.ts'
import { sameViewOf } from './same-view.ts'

export function TenantSwitcher() {
  const [isOpen, setOpen] = useState(false)
  const tenantId = chosenTenant.value
  const { key } = signedIn()
  if (!seesAllTenants(key) && key.grants.length < 2) return null
  return (
    <>
      <button type="button" class="tenant" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {tenantId === undefined ? 'Choose an agency' : <TenantName tenantId={tenantId} />} ▾
      </button>
      {isOpen && (
        <Dialog title="Agencies" onClose={() => setOpen(false)}>
          {seesAllTenants(key) ? (
            <Search onChosen={() => setOpen(false)} />
          ) : (
            <Granted onChosen={() => setOpen(false)} />
          )}
        </Dialog>
      )}
    </>
  )
}

/** Its name, if the session may know it; else its id. */
export function TenantName({ tenantId }: { readonly tenantId: string }) {
  const isKnown = mayAdminister(signedIn().key, 'admin:inspect', tenantId)
  const { value } = useAnswer(isKnown ? getTenant(tenantId) : undefined)
  return <>{oneLine(value?.name ?? `Agency ${tenantId.slice(0, 8)}`)}</>
}

interface ChoiceProps {
  readonly onChosen: () => void
}

function Search({ onChosen }: ChoiceProps) {
  const [search, setSearch] = useState('')
  const found = useAnswer(
    listTenants({ search: search.trim() || undefined, order: 'lastPublish', limit: 30 }),
  )
  return (
    <>
      <input
        type="search"
        aria-label="Name, reference or id of an agency"
        placeholder="Name, reference or id"
        value={search}
        onInput={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      <Answer of={found} what="the agencies">
        {({ items, next }) => (
          <>
            {items.length === 0 && <Empty title="No agency has this in its name, reference or id." />}
            <ul class="choices">
              {items.map(({ tenantId, name, reference }) => (
                <Choice
                  key={tenantId}
                  tenantId={tenantId}
                  name={oneLine(name)}
                  note={oneLine(reference ?? '')}
                  onChosen={onChosen}
                />
              ))}
            </ul>
            {next !== null && <p class="quiet">There are more: type a part of the name.</p>}
          </>
        )}
      </Answer>
    </>
  )
}

function Granted({ onChosen }: ChoiceProps) {
  return (
    <ul class="choices">
      {signedIn().key.grants.map(({ tenantId }) => (
        <Choice key={tenantId} tenantId={tenantId} onChosen={onChosen} />
      ))}
    </ul>
  )
}

interface ChoiceOf extends ChoiceProps {
  readonly tenantId: string
  readonly name?: string
  readonly note?: string
}

function Choice({ tenantId, name, note, onChosen }: ChoiceOf) {
  const { path } = useLocation()
  const { key } = signedIn()
  const same = sameViewOf(path, tenantId)
  const href =
    same !== undefined && mayOpen(key, same.slice(base.length)) ? same : hrefOf(firstPlace(key, tenantId))
  return (
    <li>
      <a href={href} onClick={onChosen}>
        {name ?? <TenantName tenantId={tenantId} />}
      </a>{' '}
      {note !== undefined && <span class="quiet">{note}</span>}
    </li>
  )
}
