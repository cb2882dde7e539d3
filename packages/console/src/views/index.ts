/** All views: who may see them, and their entries in the menu. To add one, add its file, a line here, and one in loads.ts. */
import { isFeedName, places } from '../base.ts'
import { feedDoor, feedsOf, mayAdminister, scopesIn, seesAllTenants } from '../session/access.ts'
import type { Access } from '../session/access.ts'
import type { View } from './view.ts'

function publishes(access: Access, tenantId: string): boolean {
  return scopesIn(access, tenantId).some((scope) => scope.endsWith(':publish'))
}

function erases(access: Access, tenantId: string): boolean {
  const isEraser = scopesIn(access, tenantId).some((scope) => scope.endsWith(':erase'))
  return isEraser || mayAdminister(access, 'admin:erase', tenantId)
}

/** A publisher sees what it has published itself. */
function seesPublications(access: Access, tenantId: string): boolean {
  return publishes(access, tenantId) || mayAdminister(access, 'admin:inspect', tenantId)
}

const feedNames = { property: 'Property feed', contact: 'Contact feed' } as const

export const views: readonly View[] = [
  {
    path: '/',
    title: 'Overview',
    menu: (access) => (seesAllTenants(access) ? [{ name: 'Overview', place: places.overview() }] : []),
  },
  {
    path: '/tenants/:tenantId/feeds/:feed',
    title: 'Feed',
    isOpen: (access, { tenantId = '', feed }) =>
      isFeedName(feed) && feedDoor(access, tenantId, feed) !== undefined,
    menu: (access, tenantId) =>
      tenantId === undefined
        ? []
        : feedsOf(access, tenantId).map((feed) => ({
            name: feedNames[feed],
            place: places.feed(tenantId, feed),
          })),
  },
  {
    path: '/tenants/:tenantId/properties/:agentRef',
    title: 'Property',
    isOpen: (access, { tenantId = '' }) => feedDoor(access, tenantId, 'property') !== undefined,
  },
  {
    path: '/tenants/:tenantId/contacts/:contactRef',
    title: 'Contact',
    isOpen: (access, { tenantId = '' }) =>
      mayAdminister(access, 'admin:inspect', tenantId) || feedDoor(access, tenantId, 'contact') !== undefined,
  },
  {
    path: '/tenants/:tenantId/keys',
    title: 'Keys',
    isOpen: (access, { tenantId = '' }) => mayAdminister(access, 'admin:inspect', tenantId),
    menu: (access, tenantId) =>
      tenantId !== undefined && mayAdminister(access, 'admin:inspect', tenantId)
        ? [{ name: 'Keys', place: places.keys(tenantId) }]
        : [],
  },
  {
    path: '/tenants/:tenantId/consumers',
    title: 'Consumers',
    isOpen: (access, { tenantId = '' }) => mayAdminister(access, 'admin:inspect', tenantId),
    menu: (access, tenantId) =>
      tenantId !== undefined && mayAdminister(access, 'admin:inspect', tenantId)
        ? [{ name: 'Consumers', place: places.consumers(tenantId) }]
        : [],
  },
  {
    path: '/tenants/:tenantId/publications',
    title: 'Publications',
    isOpen: (access, { tenantId = '' }) => seesPublications(access, tenantId),
    menu: (access, tenantId) =>
      tenantId !== undefined && seesPublications(access, tenantId)
        ? [{ name: 'Publications', place: places.publications(tenantId) }]
        : [],
  },
  {
    path: '/tenants/:tenantId/playground',
    title: 'Playground',
    isOpen: (access, { tenantId = '' }) => publishes(access, tenantId),
    menu: (access, tenantId) =>
      tenantId !== undefined && publishes(access, tenantId)
        ? [{ name: 'Playground', place: places.playground(tenantId) }]
        : [],
  },
  {
    path: '/tenants/:tenantId/erasures',
    title: 'Erasures',
    isOpen: (access, { tenantId = '' }) => erases(access, tenantId),
    menu: (access, tenantId) =>
      tenantId !== undefined && erases(access, tenantId)
        ? [{ name: 'Erasures', place: places.erasures(tenantId) }]
        : [],
  },
  {
    path: '/tenants/:tenantId/audit',
    title: 'Audit',
    isOpen: (access, { tenantId = '' }) => mayAdminister(access, 'admin:audit', tenantId),
    menu: (access, tenantId) =>
      tenantId !== undefined && mayAdminister(access, 'admin:audit', tenantId)
        ? [{ name: 'Audit', place: places.audit(tenantId) }]
        : [],
  },
  {
    path: '/keys',
    title: 'Operator keys',
    isOpen: (access) => mayAdminister(access, 'admin:inspect'),
    menu: (access) =>
      mayAdminister(access, 'admin:inspect') ? [{ name: 'Operator keys', place: places.operatorKeys() }] : [],
  },
  {
    path: '/audit',
    title: 'Audit',
    isOpen: (access) => mayAdminister(access, 'admin:audit'),
    menu: (access) =>
      mayAdminister(access, 'admin:audit') ? [{ name: 'All audit', place: places.audit(undefined) }] : [],
  },
  {
    path: '/system',
    title: 'System',
    isOpen: (access) => mayAdminister(access, 'admin:inspect'),
    menu: (access) =>
      mayAdminister(access, 'admin:inspect') ? [{ name: 'System', place: places.system() }] : [],
  },
]
