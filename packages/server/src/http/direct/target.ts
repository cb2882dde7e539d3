/** The two reads of the contract and publishing, told from a request target in its plain spelling. Any other spelling is the router's. */
import { feedNames, feeds, parseUuid } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import type { LocatedPage } from '../../feed/list.ts'
import type { ContentCoding } from '../../pages/index.ts'
import type { Located } from '../../storage/storage.ts'
import type { ServiceLimits } from '../limits.ts'
import { readListParameters } from '../list-parameters.ts'
import type { ListParameters } from '../list-parameters.ts'
import { readPublishParameters } from '../publish-parameters.ts'
import type { PublishParameters } from '../publish-parameters.ts'
import { queryText } from '../target.ts'

export type DirectTarget = ListTarget | EventTarget

interface TargetOfFeed {
  readonly feed: FeedName
  /** The pattern of the router's route. */
  readonly route: string
}

export interface ListTarget extends TargetOfFeed {
  readonly kind: 'list'
  readonly parameters: ListParameters
  /** What it led to when it was last asked for. */
  lastPage?: KnownPage
}

export interface EventTarget extends TargetOfFeed {
  readonly kind: 'event'
  /** Lower case. */
  readonly eventId: string
}

export interface TaggedPage {
  readonly page: LocatedPage
  readonly etag: string
}

/** A page as it is for as long as what is known of its view is one and the same. */
export interface KnownPage extends TaggedPage {
  readonly known: Located
  readonly coding: ContentCoding
}

/** `undefined`: not one of these, or there is something to say about its parameters. */
export type ReadTarget = (target: string) => DirectTarget | undefined

export function directTargets(basePath: string, limits: ServiceLimits): ReadTarget {
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
        const reading = readListParameters(rest.slice(1), feed, limits)
        if (reading.kind === 'faults' || reading.ignored.length > 0) return undefined
        return { kind: 'list', feed, route: listRoute, parameters: reading.parameters }
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

export interface PublicationTarget extends PublishTarget {
  readonly parameters: PublishParameters
}

/** `undefined`: nothing to publish to, or there is something to say about its parameters. */
export type ReadPublicationTarget = (target: string) => PublicationTarget | undefined

export function publicationTargets(basePath: string, limits: ServiceLimits): ReadPublicationTarget {
  const targetOf = publishTargets(basePath)
  return (text) => {
    const target = targetOf(text)
    if (target === undefined) return undefined
    const reading = readPublishParameters(queryText(text), limits.maxParameters)
    return reading.kind === 'faults' ? undefined : { ...target, parameters: reading.parameters }
  }
}
