/** All views: to add one, its file and its line here. */
import { isFeedName, places } from '../base.ts'
import { feedDoor, feedsOf, seesAllTenants } from '../session/access.ts'
import { FeedView } from './feed/feed-view.tsx'
import { OverviewView } from './overview/overview-view.tsx'
import type { View } from './view.ts'

const feedNames = { property: 'Properties', contact: 'Contacts' } as const

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
            name: `${feedNames[feed]} feed`,
            place: places.feed(tenantId, feed),
          })),
  },
]
