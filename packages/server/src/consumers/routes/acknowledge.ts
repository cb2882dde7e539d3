/** `PUT /v1/{feed}-consumers/{name}/acknowledged`: a consumer reports the number up to which it has done everything (PROTOCOL §14). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { checkCursor } from '../../reading/run.ts'
import { refused } from '../../http/exchange.ts'
import { feedKeyOf } from '../../http/access.ts'
import { bodyProblems, capital, keyedHeaders, keyedProblems } from '../../http/openapi/responses.ts'
import { refTo } from '../../http/openapi/schemas.ts'
import { success } from '../../http/problem/problem.ts'
import { readObject } from '../../http/requests/body-members.ts'
import type { BodyReading } from '../../http/requests/body-members.ts'
import { refusalOfCursor } from '../../reading/routes/cursor-parameters.ts'
import type { Operation } from '../../http/operation.ts'
import { withReadBody } from '../../http/requests/read-body.ts'
import { consumersPath, nameParams, readConsumerName } from './consumer-path.ts'
import { withoutParameters } from '../../http/requests/query.ts'
import type { ReadCounts } from '../read-counts.ts'
import type { LimitsContext } from '../../http/limits.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'

interface Context extends LimitsContext, BodyContext {
  readonly events: EventStore
  readonly readCounts: ReadCounts
}

const headers = { 'cache-control': 'no-store' }

export function acknowledgeReading(context: Context, feedName: FeedName): Operation {
  return {
    method: 'PUT',
    path: `${consumersPath(feedName)}/:name/acknowledged`,
    mediaType: 'application/json',
    access: { scope: feeds[feedName].readScope, refusal: 'own' },
    schema: () => ({
      operationId: `acknowledge${capital(feedName)}Events`,
      summary: `Acknowledge ${feedName} events`,
      description:
        'Everything up to `sequenceNumber` has been applied by the consumer. It only goes forward within an epoch: a smaller number changes nothing. It is on disk within 35 s. A crash of the node can lose a younger one, so a consumer sends it again with its next events.',
      tags: ['Copying'],
      security: [{ apiKey: [] }],
      params: nameParams,
      body: { content: { 'application/json': { schema: refTo('Acknowledgement') } } },
      response: {
        [success.noContent]: { description: 'Recorded.', headers: keyedHeaders },
        ...keyedProblems(
          'missing_scope',
          'ambiguous_tenant',
          'invalid_body',
          'epoch_changed',
          'cursor_beyond_head',
          ...bodyProblems,
        ),
      },
    }),

    prepare: withoutParameters(context.limits, (params) => {
      const name = readConsumerName(params)
      if (typeof name !== 'string') return () => name
      return (request, access) =>
        withReadBody(context, { request, access }, readPlace, async (place) => {
          const key = feedKeyOf(access, feedName)
          const head = await checkCursor(context.events, {
            key,
            after: place.sequenceNumber,
            epoch: place.epoch,
          })
          if ('kind' in head) return refused(refusalOfCursor(head))
          context.readCounts.acknowledge({ key, keyId: access.keyId ?? '', name, ...place })
          return { kind: 'text', status: success.noContent, headers, body: '' }
        })
    }),
  }
}

/** Up to where the consumer has done everything. */
interface AcknowledgedPlace {
  readonly sequenceNumber: number
  readonly epoch: string
}

function readPlace(text: string): BodyReading<AcknowledgedPlace> {
  const example = '{"sequenceNumber":1204,"epoch":"k3Jx0aQ9zT"}'
  return readObject(text, ['sequenceNumber', 'epoch'], example, (members) => {
    const number = members.given.get('sequenceNumber')
    const sequenceNumber =
      typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined
    if (sequenceNumber === undefined)
      members.fault('sequenceNumber', 'sequenceNumber must be a whole number, from 0.')
    const words = 'the epoch that the number was read in, as x-feed-epoch says'
    const epoch = members.matching('epoch', (one) => /^[0-9A-Za-z]{1,64}$/.test(one), words)
    if (!members.given.has('epoch')) members.fault('epoch', `epoch must be ${words}.`)
    return sequenceNumber === undefined || epoch === undefined ? undefined : { sequenceNumber, epoch }
  })
}
