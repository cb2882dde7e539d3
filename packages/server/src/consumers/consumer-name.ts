/** `x-feed-consumer`: the consumer's name, for a key that is used for several (PROTOCOL §14). */
import { defaultConsumer, isConsumerName } from './consumer.ts'
import type { AccessNeed } from '../http/access.ts'
import type { Request } from '../http/exchange.ts'
import { feedRead } from '../reading/min-sequence.ts'
import type { Refusal } from '../http/problem/problem.ts'
import { quoteInput } from '../http/requests/echo-text.ts'

const consumerHeader = 'x-feed-consumer'

/** For the OpenAPI document. */
export const consumerParameter = {
  type: 'object',
  properties: {
    [consumerHeader]: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
      description:
        'Names the consumer, if several use this key: what each was sent is recorded separately. Left out, or `default`: the key itself.',
      examples: ['website'],
    },
  },
} as const

/** Refuses what is no name of a consumer. */
export function refusalOfName(parameter: string, name: string): Refusal {
  const message = `${quoteInput(name)} is not a name. The name of a consumer has 1 to 64 letters, digits, ".", "_" and "-", and begins with a letter or digit.`
  return { code: 'invalid_parameter', errors: [{ parameter, code: 'not_a_name', message }] }
}

/** The name in the request. `refusalOfConsumer` has checked it already, except in requests that are refused. */
export function consumerNameOf(request: Request): string {
  const name = request.header(consumerHeader)
  return name === undefined || !isConsumerName(name) ? defaultConsumer : name
}

/** Checks the name in requests that read a feed; other requests may send anything. */
export function refusalOfConsumer(request: Request, need: AccessNeed | undefined): Refusal | undefined {
  const name = request.header(consumerHeader)
  if (name === undefined || isConsumerName(name) || feedRead(need) === undefined) return undefined
  return refusalOfName(consumerHeader, name)
}
