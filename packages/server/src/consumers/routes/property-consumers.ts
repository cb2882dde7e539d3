/** `GET /v1/properties/{agentRef}/consumers`: who has seen the latest event of a property (PROTOCOL §14). */
import { deliverySentence, feeds, formatTicks } from '@property-events/protocol'
import type { PropertyConsumers } from '@property-events/protocol/wire'
import type { Seen, SeenQuery } from '../who-has-seen.ts'
import { feedKeyOf } from '../../http/access.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { subjectParams } from '../../http/openapi/parameters.ts'
import { feedOperation } from '../../http/keyed-operation.ts'
import { readSubject } from '../../reading/routes/cursor-parameters.ts'
import { withoutParameters } from '../../http/requests/query.ts'
import type { Operation } from '../../http/operation.ts'
import type { ServiceLimits } from '../../http/limits.ts'

interface Context {
  readonly limits: ServiceLimits
  /** Who has seen the latest event of a property; `undefined` if the feed has no event of it. */
  readonly whoHasSeen: (query: SeenQuery) => Promise<Seen | undefined>
}

export function propertyConsumers(context: Context): Operation {
  return feedOperation('property', {
    method: 'GET',
    path: `${feeds.property.subjectsPath}/:subjectId/consumers`,
    scope: 'property:publish',
    orScope: 'property:read',
    operationId: 'getPropertyConsumers',
    summary: 'See who has seen a property',
    description:
      'The result of the latest event of the property at each consumer that may read it, with a sentence for people. A key with `property:publish` sees all consumers of its tenant, or of its branches, any other key itself. What another node has noted is in it within 35 s.',
    params: subjectParams('property'),
    ok: { description: 'The consumers.', schema: 'PropertyConsumers' },
    problems: ['subject_not_found'],

    prepare: withoutParameters(context.limits, ([given]) => {
      const subject = readSubject(given, 'property')
      if ('code' in subject) return () => refused({ code: 'invalid_parameter', errors: [subject] })
      return async (_request, access) => {
        const key = feedKeyOf(access, 'property')
        const keyId = publishesFor(access, key.tenantId) ? undefined : access.keyId
        const nowMs = Date.now()
        const { branches } = access
        const seen = await context.whoHasSeen({ key, ...subject, keyId, branches, isOperator: false, nowMs })
        if (seen === undefined) return refused({ code: 'subject_not_found' })
        return uncachedAnswer(seenAnswer(subject.subjectId, seen, nowMs))
      }
    }),
  })
}

/** A key that publishes for the tenant sees all consumers of it. */
export function publishesFor({ grants }: Access, tenantId: string): boolean {
  return grants.some((grant) => grant.tenantId === tenantId && grant.scopes.includes('property:publish'))
}

export function seenAnswer(subjectId: string, seen: Seen, nowMs: number): PropertyConsumers {
  const { event, head, lastCreated, publisherSilentMs, consumers } = seen
  const now = new Date(nowMs)
  return {
    agentRef: subjectId,
    event,
    feed: {
      sequenceNumber: head.sequenceNumber,
      epoch: head.epoch,
      lastPublishedAt: lastCreated === undefined ? null : `${formatTicks(lastCreated).slice(0, 23)}Z`,
      silentSince: publisherSilentMs === undefined ? null : new Date(publisherSilentMs).toISOString(),
    },
    consumers: consumers.map((consumer) => ({
      ...consumer,
      sentence: deliverySentence(event, consumer, now),
    })),
  }
}
