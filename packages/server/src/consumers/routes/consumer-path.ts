/** What the routes of a consumer share: its name in the path. */
import type { FeedName } from '@property-events/protocol'
import { isConsumerName } from '../consumer.ts'
import { refusalOfName } from '../consumer-name.ts'
import { refused } from '../../http/exchange.ts'
import type { Refused } from '../../http/exchange.ts'
import type { OperationTarget } from '../../http/operation.ts'

export function consumersPath(feed: FeedName): string {
  return `/v1/${feed}-consumers`
}

export const nameParams = {
  type: 'object',
  properties: {
    name: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
      description: 'The name of the consumer, as in `x-feed-consumer`; `default` for the key itself.',
      examples: ['website'],
    },
  },
} as const

/** The name in the path of a request. */
export function readConsumerName([name = '']: OperationTarget['params']): string | Refused {
  return isConsumerName(name) ? name : refused(refusalOfName('name', name))
}
