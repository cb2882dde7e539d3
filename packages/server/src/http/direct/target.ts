/** The two reads of the contract and publishing, told from a request target in its plain spelling. Any other spelling is the router's. */
import { feedNames, feeds, parseUuid } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'

export type DirectTarget = {
  readonly feed: FeedName
  /** The pattern of the router's route. */
  readonly route: string
} & (
  | { readonly kind: 'list'; readonly queryText: string }
  /** `eventId`: lower case. */
  | { readonly kind: 'event'; readonly eventId: string }
)

export function directTargets(basePath: string): (target: string) => DirectTarget | undefined {
  const paths = feedNames.map((feed) => {
    const { eventsPath } = feeds[feed]
    return {
      feed,
      list: `${basePath}${eventsPath}/getevents`,
      listRoute: `${eventsPath}/getevents`,
      event: `${basePath}${eventsPath}/geteventbyid/`,
      eventRoute: `${eventsPath}/geteventbyid/:eventId`,
    }
  })
  return (target) => {
    for (const { feed, list, listRoute, event, eventRoute } of paths) {
      if (target.startsWith(event)) {
        const eventId = parseUuid(target.slice(event.length))
        return eventId === undefined ? undefined : { kind: 'event', feed, route: eventRoute, eventId }
      }
      if (target.startsWith(list)) {
        const rest = target.slice(list.length)
        if (rest !== '' && !rest.startsWith('?')) return undefined
        return { kind: 'list', feed, route: listRoute, queryText: rest.slice(1) }
      }
    }
    return undefined
  }
}

export interface PublishTarget {
  readonly feed: FeedName
  /** The pattern of the router's route. */
  readonly route: string
}

export function publishTargets(basePath: string): (target: string) => PublishTarget | undefined {
  const paths = feedNames.map((feed) => {
    const { publishPath } = feeds[feed]
    return { path: basePath + publishPath, target: { feed, route: publishPath } }
  })
  return (target) => {
    const end = target.indexOf('?')
    const given = end === -1 ? target : target.slice(0, end)
    return paths.find(({ path }) => path === given)?.target
  }
}
