/** A view at its address: its part of the script, its title, whether the session may see it, and what appears if it fails. */
import type { ComponentType } from 'preact'
import { useRoute } from 'preact-iso/router'
import { useEffect, useState } from 'preact/hooks'
import { Crash } from '../parts/crash.tsx'
import { Empty, Waiting } from '../parts/empty.tsx'
import { Problem } from '../parts/problem.tsx'
import { oddTrouble } from '../service/trouble.ts'
import { signedIn } from '../session/session.ts'
import { chooseTenant } from '../state/chosen-tenant.ts'
import { loads } from './loads.ts'
import type { Load } from './loads.ts'
import type { View, ViewProps } from './view.ts'

/** The component of a route. It is created once for each view, so that the view keeps its state while its address changes. */
export function placeOf({ path, title, isOpen }: View): ComponentType {
  const load = loads[path]
  if (load === undefined) throw new Error(`loads.ts has no file for ${path}`)
  const Part = partOf(load, title)
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
        <Part parts={parts} query={query} />
      </Crash>
    )
  }
}

/** The view once its part of the script is here, which is then kept. */
function partOf(load: Load, title: string): ComponentType<ViewProps> {
  let loaded: ComponentType<ViewProps> | undefined
  return function Part(props) {
    const [state, setState] = useState<'waiting' | 'failed' | 'here'>(
      loaded === undefined ? 'waiting' : 'here',
    )
    useEffect(() => {
      if (state !== 'waiting') return
      void begin()
    }, [])
    async function begin(): Promise<void> {
      try {
        loaded = await load()
        setState('here')
      } catch {
        setState('failed')
      }
    }
    if (state === 'failed') {
      const trouble = oddTrouble('This view could not be loaded.')
      // A browser may keep the failure of a script until the page is loaded again.
      return <Problem trouble={trouble} again={() => location.reload()} />
    }
    const Component = loaded
    return Component === undefined ? <Waiting what={`the view “${title}”`} /> : <Component {...props} />
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
