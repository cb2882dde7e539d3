/** All views: to add one, its file and its line here. */
import { isFeedName, places } from '../base.ts'
import { feedDoor, feedsOf, mayAdminister, seesAllTenants } from '../session/access.ts'
import { ContactView } from './contact/contact-view.tsx'
import { FeedView } from './feed/feed-view.tsx'
import { KeysView } from './keys/keys-view.tsx'
import { OverviewView } from './overview/overview-view.tsx'
import { PropertyView } from './property/property-view.tsx'
import type { View } from './view.ts'

const feedNames = { property: 'Property feed', contact: 'Contact feed' } as const

export const views: readonly View[] = [
  {
    path: '/',
    title: 'Overview',
    component: OverviewView,
    menu: (access) => (seesAllTenants(access) ? [{ name: 'Overview', place: places.overview() }] : []),
  },
  {
    path: '/tenants/:tenantId/feeds/:feed',
    title: 'Feed',
    component: FeedView,
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
    component: PropertyView,
    isOpen: (access, { tenantId = '' }) => feedDoor(access, tenantId, 'property') !== undefined,
  },
  {
    path: '/tenants/:tenantId/contacts/:contactRef',
    title: 'Contact',
    component: ContactView,
    isOpen: (access, { tenantId = '' }) =>
      mayAdminister(access, 'admin:inspect', tenantId) || feedDoor(access, tenantId, 'contact') !== undefined,
  },
  {
    path: '/tenants/:tenantId/keys',
    title: 'Keys',
    component: KeysView,
    isOpen: (access, { tenantId = '' }) => mayAdminister(access, 'admin:inspect', tenantId),
    menu: (access, tenantId) =>
      tenantId !== undefined && mayAdminister(access, 'admin:inspect', tenantId)
        ? [{ name: 'Keys', place: places.keys(tenantId) }]
        : [],
  },
  {
    path: '/keys',
    title: 'Operator keys',
    component: KeysView,
    isOpen: (access) => mayAdminister(access, 'admin:inspect'),
    menu: (access) =>
      mayAdminister(access, 'admin:inspect') ? [{ name: 'Operator keys', place: places.operatorKeys() }] : [],
  },
]
