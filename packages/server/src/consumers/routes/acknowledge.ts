/** `PUT /v1/{feed}-consumers/{name}/acknowledged`: a consumer reports the number up to which it has done everything (PROTOCOL §14). */
import { feeds } from '@property-events/protocol'
import type { FeedName } from '@property-events/protocol'
import { checkCursor } from '../../reading/run.ts'
import { refused } from '../../http/exchange.ts'
import { feedKeyOf } from '../../http/access.ts'
import type { Outcome } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { bodyProblems, capital, keyedHeaders, keyedProblems } from '../../http/openapi/responses.ts'
import { refTo } from '../../http/openapi/schemas.ts'
import { success } from '../../http/problem/problem.ts'
import { readMembers } from '../../http/requests/body-members.ts'
import { refusalOfCursor } from '../../reading/routes/cursor-parameters.ts'
import type { Operation } from '../../http/operation.ts'
import { withSmallBody } from '../../http/requests/read-body.ts'
import { consumersPath, nameParams, readConsumerName } from './consumer-path.ts'
import type { ReadCounts } from '../read-counts.ts'
import type { NameContext } from './consumer-path.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'

interface Context extends NameContext, BodyContext {
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

    prepare(target) {
      const name = readConsumerName(target, context)
      if (typeof name !== 'string') return () => name
      return (request, access) =>
        withSmallBody(context, request, access, (text) => acknowledge(context, feedName, access, name, text))
    },
  }
}

async function acknowledge(
  { events, readCounts }: Context,
  feedName: FeedName,
  access: Access,
  name: string,
  text: string,
): Promise<Outcome> {
  const example = '{"sequenceNumber":1204,"epoch":"k3Jx0aQ9zT"}'
  const reading = readMembers(text, ['sequenceNumber', 'epoch'] as const, example)
  if (reading.kind === 'faults') return refused({ code: 'invalid_body', errors: reading.errors })
  const { members } = reading
  const number = members.given.get('sequenceNumber')
  const sequenceNumber =
    typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined
  if (sequenceNumber === undefined)
    members.fault('sequenceNumber', 'sequenceNumber must be a whole number, from 0.')
  const words = 'the epoch that the number was read in, as x-feed-epoch says'
  const epoch = members.matching('epoch', (one) => /^[0-9A-Za-z]{1,64}$/.test(one), words)
  if (!members.given.has('epoch')) members.fault('epoch', `epoch must be ${words}.`)
  if (members.errors.length > 0 || sequenceNumber === undefined || epoch === undefined) {
    return refused({ code: 'invalid_body', errors: members.errors })
  }
  const key = feedKeyOf(access, feedName)
  const head = await checkCursor(events, { key, after: sequenceNumber, epoch })
  if ('kind' in head) return refused(refusalOfCursor(head))
  readCounts.acknowledge({ key, keyId: access.keyId ?? '', name, sequenceNumber, epoch })
  return { kind: 'text', status: success.noContent, headers, body: '' }
}
