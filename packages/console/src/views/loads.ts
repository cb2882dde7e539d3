/** The files of the views, each loaded when the view is first opened. */
import type { ComponentType } from 'preact'
import type { ViewProps } from './view.ts'

export type Load = () => Promise<ComponentType<ViewProps>>

/** By the path in index.ts. */
export const loads: Readonly<Record<string, Load>> = {
  '/': async () => (await import('./overview/overview-view.tsx')).OverviewView,
  '/tenants/:tenantId/feeds/:feed': async () => (await import('./feed/feed-view.tsx')).FeedView,
  '/tenants/:tenantId/properties/:agentRef': async () => (await import('./subjects.ts')).PropertyView,
  '/tenants/:tenantId/contacts/:contactRef': async () => (await import('./subjects.ts')).ContactView,
  '/tenants/:tenantId/keys': async () => (await import('./records.ts')).KeysView,
  '/tenants/:tenantId/consumers': async () => (await import('./records.ts')).ConsumersView,
  '/tenants/:tenantId/publications': async () => (await import('./records.ts')).PublicationsView,
  '/tenants/:tenantId/playground': async () =>
    (await import('./playground/playground-view.tsx')).PlaygroundView,
  '/tenants/:tenantId/erasures': async () => (await import('./records.ts')).ErasuresView,
  '/tenants/:tenantId/audit': async () => (await import('./records.ts')).AuditView,
  '/keys': async () => (await import('./records.ts')).KeysView,
  '/audit': async () => (await import('./records.ts')).AuditView,
  '/system': async () => (await import('./records.ts')).SystemView,
}
