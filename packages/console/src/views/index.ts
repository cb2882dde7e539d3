/** All views: the scopes that open each, and their tabs. To add one, add its file, a line here, and one in view-route.tsx. */
import { isFeedName, paths } from '../base.ts'
import type { FeedName } from '../base.ts'
import type { Scope } from '../session/access.ts'
import type { View } from './view.ts'

const inspecting = ['tenant:inspect', 'admin:inspect'] as const
const webhooks = ['property:webhooks', 'contact:webhooks', ...inspecting] as const
const publishing = ['property:publish', 'contact:publish'] as const

/** Administration shows no feed of contacts: operators see them hidden, one by one. */
const reading: Readonly<Record<FeedName, readonly Scope[]>> = {
  property: ['property:read', ...inspecting],
  contact: ['contact:read'],
}

export const views: readonly View[] = [
  {
    path: '/',
    title: 'Overview',
    tabs: [{ name: 'Overview', icon: 'overview', path: () => paths.overview(), needs: ['admin:inspect'] }],
  },
  {
    path: '/tenants/:tenantId/feeds/:feed',
    title: 'Feed',
    needs: ({ feed }) => (isFeedName(feed) ? reading[feed] : []),
    tabs: [
      { name: 'Property feed', icon: 'feed', path: (tenantId) => paths.feed(tenantId, 'property') },
      { name: 'Contact feed', icon: 'contact', path: (tenantId) => paths.feed(tenantId, 'contact') },
    ],
  },
  {
    path: '/tenants/:tenantId/properties/:agentRef',
    title: 'Property',
    needs: () => reading.property,
  },
  {
    path: '/tenants/:tenantId/contacts/:contactRef',
    title: 'Contact',
    needs: () => [...reading.contact, ...inspecting],
  },
  {
    path: '/tenants/:tenantId/consumers',
    title: 'Consumers',
    needs: () => inspecting,
    tabs: [{ name: 'Consumers', icon: 'consumers', path: (tenantId) => paths.consumers(tenantId) }],
  },
  {
    path: '/tenants/:tenantId/webhooks',
    title: 'Webhooks',
    needs: () => webhooks,
    tabs: [{ name: 'Webhooks', icon: 'webhooks', path: (tenantId) => paths.webhooks(tenantId) }],
  },
  {
    path: '/tenants/:tenantId/webhooks/:webhookId',
    title: 'Webhook',
    needs: () => webhooks,
  },
  {
    path: '/tenants/:tenantId/publications',
    title: 'Publications',
    // A publisher sees what it has published itself.
    needs: () => [...publishing, ...inspecting],
    tabs: [{ name: 'Publications', icon: 'publications', path: (tenantId) => paths.publications(tenantId) }],
  },
  {
    path: '/tenants/:tenantId/playground',
    title: 'Playground',
    needs: () => publishing,
    tabs: [{ name: 'Playground', icon: 'playground', path: (tenantId) => paths.playground(tenantId) }],
  },
  {
    path: '/tenants/:tenantId/keys',
    title: 'Keys',
    needs: () => inspecting,
    tabs: [{ name: 'Keys', icon: 'key', path: (tenantId) => paths.keys(tenantId) }],
  },
  {
    path: '/tenants/:tenantId/erasures',
    title: 'Erasures',
    needs: () => ['property:erase', 'contact:erase', 'admin:erase'],
    tabs: [{ name: 'Erasures', icon: 'erase', path: (tenantId) => paths.erasures(tenantId) }],
  },
  {
    path: '/tenants/:tenantId/audit',
    title: 'Audit',
    needs: () => ['tenant:inspect', 'admin:audit'],
    tabs: [{ name: 'Audit', icon: 'audit', path: (tenantId) => paths.audit(tenantId) }],
  },
  {
    path: '/keys',
    title: 'Operator keys',
    needs: () => ['admin:inspect'],
    tabs: [{ name: 'Operator keys', icon: 'key', path: () => paths.operatorKeys() }],
  },
  {
    path: '/audit',
    title: 'Audit (all agencies)',
    needs: () => ['admin:audit'],
    tabs: [{ name: 'Audit (all agencies)', icon: 'audit', path: () => paths.audit(undefined) }],
  },
  {
    path: '/health',
    title: 'Health',
    needs: () => ['admin:inspect'],
    tabs: [{ name: 'Health', icon: 'health', path: () => paths.health() }],
  },
]
