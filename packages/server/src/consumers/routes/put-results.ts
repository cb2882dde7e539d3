/** `POST /v1/property-consumers/{name}/results`: a consumer reports what became of properties (PROTOCOL §14). */
import type { ProblemError } from '@property-events/protocol'
import { checkCursor } from '../../reading/run.ts'
import { yieldForStep } from '../../runtime/yield-in-steps.ts'
import { namedConsumersPerFeed } from '../consumer.ts'
import type { ConsumerResult, ConsumerStore } from '../consumer.ts'
import type { FeedKey } from '../../events/feed-key.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import { feedKeyOf } from '../../http/access.ts'
import type { Outcome } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { keyedOperation } from '../../http/keyed-operation.ts'
import { refusalOfCursor } from '../../reading/routes/cursor-parameters.ts'
import { maxResults, maxResultsBytes, readResults } from './results-body.ts'
import type { Operation } from '../../http/operation.ts'
import { withSmallBody } from '../../http/requests/read-body.ts'
import { consumersPath, nameParams, readConsumerName } from './consumer-path.ts'
import { withoutParameters } from '../../http/requests/query.ts'
import type { LimitsContext } from '../../http/limits.ts'
import type { EventStore } from '../../events/event-log.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'
import type { RequestObserver } from '../../http/observer.ts'

interface Context extends LimitsContext, BodyContext {
  readonly consumers: ConsumerStore
  readonly events: EventStore
  /** `branches`: as in `EventStore.readLatest`. */
  readonly hasSubject: (
    key: FeedKey,
    subjectId: string,
    branches: readonly string[] | undefined,
  ) => Promise<boolean>
  readonly metrics: RequestObserver
}

export function putResults(context: Context): Operation {
  return keyedOperation({
    method: 'POST',
    path: `${consumersPath('property')}/:name/results`,
    scope: 'property:read',
    tag: 'Copying',
    operationId: 'reportResults',
    summary: 'Report results of properties',
    description:
      'For each property whether the site shows this version (`live`, with its address), holds it back or refused it. For each property and consumer, the result with the highest `sequenceNumber` is kept, and of two with the same number the later. References that the feed does not have are left out and named in `unknown`.',
    params: nameParams,
    body: 'ConsumerResult',
    listOf: maxResults,
    ok: { description: 'They are on disk.', schema: 'ResultsReceipt' },
    problems: ['cursor_beyond_head', 'storage_full'],

    prepare: withoutParameters(context.limits, (params) => {
      const name = readConsumerName(params)
      if (typeof name !== 'string') return () => name
      return (request, access) =>
        withSmallBody(context, request, access, (text) => put(context, access, name, text), maxResultsBytes)
    }),
  })
}

/** A request has one name, so none of its results were stored. */
const tooManyNames: ProblemError = {
  parameter: 'name',
  code: 'too_many_names',
  message: `The feed has ${namedConsumersPerFeed} consumer names, the most that are kept. Use one of them, or default.`,
}

/** References that are looked up before other requests get their turn. */
const lookedForPerTurn = 100

async function put(context: Context, access: Access, name: string, text: string): Promise<Outcome> {
  const read = readResults(text)
  if (read.kind === 'faults') return refused({ code: 'invalid_body', errors: read.errors })
  const key = feedKeyOf(access, 'property')
  const highest = read.results.reduce((most, { sequenceNumber }) => Math.max(most, sequenceNumber), 0)
  const head = await checkCursor(context.events, { key, after: highest, epoch: undefined })
  if ('kind' in head) return refused(refusalOfCursor(head))
  const known = await knownSubjects(
    context,
    key,
    access,
    new Set(read.results.map(({ agentRef }) => agentRef)),
  )
  const resultMs = Date.now()
  const results = read.results
    .filter(({ agentRef }) => known.has(agentRef))
    .map(({ agentRef, ...result }): ConsumerResult => {
      return {
        tenantId: key.tenantId,
        subjectId: agentRef,
        keyId: access.keyId ?? '',
        name,
        ...result,
        resultMs,
      }
    })
  const put = results.length === 0 ? undefined : await context.consumers.putResults(results)
  if ((put?.leftOut ?? 0) > 0) return refused({ code: 'invalid_parameter', errors: [tooManyNames] })
  for (const one of put?.live ?? []) context.metrics.wentLive(one.keyId, one.name, one.afterMs / 1_000)
  const unknown = read.results.map(({ agentRef }) => agentRef).filter((agentRef) => !known.has(agentRef))
  return uncachedAnswer({ stored: results.length, unknown: [...new Set(unknown)] })
}

async function knownSubjects(
  { hasSubject }: Pick<Context, 'hasSubject'>,
  key: FeedKey,
  { branches }: Access,
  subjectIds: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const known = new Set<string>()
  let looked = 0
  for (const subjectId of subjectIds) {
    if (await hasSubject(key, subjectId, branches)) known.add(subjectId)
    looked += 1
    if (looked % lookedForPerTurn === 0) await yieldForStep()
  }
  return known
}
