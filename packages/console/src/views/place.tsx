/** A view at its address: its title, whether the session may see it, and what appears if it fails. */
import type { ComponentType } from 'preact'
import { useRoute } from 'preact-iso'
import { useEffect } from 'preact/hooks'
import { Crash } from '../parts/crash.tsx'
import { Empty } from '../parts/empty.tsx'
import { signedIn } from '../session/session.ts'
import { chooseTenant } from '../state/chosen-tenant.ts'
import type { View } from './view.ts'

/** The component of a route. It is created once for each view, so that the view keeps its state while its address changes. */
export function placeOf({ component: Component, title, isOpen }: View): ComponentType {
  return function Place() {
    const { params: parts, query } = useRoute()
    const { tenantId } = parts
    useEffect(() => {
      document.title = `${title} · Property Events`
    }, [])
    useEffect(() => {
      if (tenantId !== undefined) chooseTenant(tenantId)
    }, [tenantId])
    if (isOpen?.(signedIn().key, parts) === false) return <NotForThisKey />
    return (
      <Crash key={tenantId}>
        <Component parts={parts} query={query} />
      </Crash>
    )
  }
}

function NotForThisKey() {
  return (
    <Empty title="The key that you signed in with may not see this." isView>
      <p>Sign in with a key that may, ask an operator for one, or choose what the menu has.</p>
    </Empty>
  )
}

/** For an address without a view. */
export function NoView() {
  return (
    <Empty title="There is no such page in the console." isView>
      <p>Look at the address, or choose what the menu has.</p>
    </Empty>
  )
}
