/** A view at its address: its part of the script, its title, whether the session may see it, and what appears if it fails. */
import { Component } from 'preact'
import type { ComponentChildren, ComponentType } from 'preact'
import { useRoute } from 'preact-iso/router'
import { useEffect, useState } from 'preact/hooks'
import { Empty, Problem, Waiting } from '../parts/answer.tsx'
import { hrefOf } from '../root.ts'
import { oddFailure } from '../service/failure.ts'
import { signedIn } from '../session/session.ts'
import { chooseTenant } from '../state/chosen-tenant.ts'
import { agencyOf, isOpen, menuOf } from './open-paths.ts'
import type { View, ViewProps } from './view.ts'

type Load = () => Promise<ComponentType<ViewProps>>

/** The files of the views by the path in index.ts, each loaded when the view is first opened. */
const loads: Readonly<Record<string, Load>> = {
  '/': async () => (await import('./overview/overview-view.tsx')).OverviewView,
  '/tenants/:tenantId/feeds/:feed': async () => (await import('./feed/feed-view.tsx')).FeedView,
  '/tenants/:tenantId/properties/:agentRef': async () => (await import('./subjects.ts')).PropertyView,
  '/tenants/:tenantId/contacts/:contactRef': async () => (await import('./subjects.ts')).ContactView,
  '/tenants/:tenantId/keys': async () => (await import('./records.ts')).KeysView,
  '/tenants/:tenantId/consumers': async () => (await import('./records.ts')).ConsumersView,
  '/tenants/:tenantId/webhooks': async () => (await import('./records.ts')).WebhooksView,
  '/tenants/:tenantId/webhooks/:webhookId': async () => (await import('./records.ts')).WebhooksView,
  '/tenants/:tenantId/publications': async () => (await import('./records.ts')).PublicationsView,
  '/tenants/:tenantId/playground': async () =>
    (await import('./playground/playground-view.tsx')).PlaygroundView,
  '/tenants/:tenantId/erasures': async () => (await import('./records.ts')).ErasuresView,
  '/tenants/:tenantId/audit': async () => (await import('./records.ts')).AuditView,
  '/keys': async () => (await import('./records.ts')).KeysView,
  '/audit': async () => (await import('./records.ts')).AuditView,
  '/health': async () => (await import('./records.ts')).HealthView,
}

/** The component of a route. It is created once for each view, so that the view keeps its state while its address changes. */
export function routeOf(view: View): ComponentType {
  const { path, title } = view
  const load = loads[path]
  if (load === undefined) throw new Error(`view-route.tsx has no file for ${path}`)
  const Part = partOf(load, title)
  return function ViewRoute() {
    const { params: parts, query } = useRoute()
    const { tenantId } = parts
    const isSeen = isOpen(signedIn().key, view, parts)
    useEffect(() => {
      document.title = `${title} · Property Events`
    }, [])
    useEffect(() => {
      // Otherwise the menu would have nothing of the agencies that the key has.
      if (tenantId !== undefined && isSeen) chooseTenant(tenantId)
    }, [tenantId])
    if (!isSeen) return <NotForThisKey needs={view.needs?.(parts) ?? []} tenantId={tenantId} />
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
      const failure = oddFailure('This view could not be loaded.')
      // A browser may keep the failure of a script until the page is loaded again.
      return <Problem failure={failure} again={() => location.reload()} />
    }
    const Loaded = loaded
    return Loaded === undefined ? <Waiting what={`the view “${title}”`} /> : <Loaded {...props} />
  }
}

interface NotForThisKeyProps {
  readonly needs: readonly string[]
  readonly tenantId: string | undefined
}

/** Why, and where to go instead. */
function NotForThisKey({ needs, tenantId }: NotForThisKeyProps) {
  const { key } = signedIn()
  const held = [...key.scopes, ...key.grants.flatMap(({ scopes }) => scopes)]
  const { service, agency } = menuOf(key, agencyOf(key, tenantId))
  return (
    <Empty title="Your key may not see this view." isView>
      <p>{needWords(needs, tenantId !== undefined)}</p>
      <p>
        Yours has: <code>{[...new Set(held)].join(', ')}</code>.
        {key.operator &&
          ' A key of the agency, which you can issue under Keys, reads contacts and publishes.'}
      </p>
      <p>You can open:</p>
      <ul class="choices">
        {[...service, ...agency].map(({ name, path }) => (
          <li key={path}>
            <a href={hrefOf(path)}>{name}</a>
          </li>
        ))}
      </ul>
    </Empty>
  )
}

function needWords(needs: readonly string[], isOfAgency: boolean): string {
  if (needs.length === 0) return 'Check the address.'
  const scopes = needs.length === 1 ? needs[0] : `one of ${needs.join(', ')}`
  return `It needs a key with ${scopes}${isOfAgency ? ' for this agency' : ''}.`
}

/** For an address without a view. */
export function NoView() {
  return (
    <Empty title="There is no such page in the console." isView>
      <p>Check the address, or choose a page from the menu.</p>
    </Empty>
  )
}

interface CrashProps {
  readonly children: ComponentChildren
}

/** Replaces a view that failed. */
class Crash extends Component<CrashProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false }

  static override getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override componentDidCatch(error: unknown): void {
    console.error(error)
  }

  render() {
    if (!this.state.hasFailed) return this.props.children
    const failure = oddFailure('This view met something that it does not know, and stopped.')
    return <Problem failure={failure} again={() => this.setState({ hasFailed: false })} />
  }
}
