/** What the operations on webhooks share: whose they are, which one a path names, and what a change sets off (PROTOCOL §16.1). */
import { feeds } from '@property-events/protocol'
import type { FeedName, ProblemError } from '@property-events/protocol'
import type { EventStore } from '../../events/event-log.ts'
import type { Access } from '../../http/access.ts'
import { refused, uncachedAnswer } from '../../http/exchange.ts'
import type { Outcome, Refused } from '../../http/exchange.ts'
import { keyedOperation } from '../../http/keyed-operation.ts'
import type { RouteWords } from '../../http/keyed-operation.ts'
import type { ServiceLimits } from '../../http/limits.ts'
import { idParams, readId } from '../../http/listed.ts'
import type { ParameterSchema } from '../../http/openapi/operation-schema.ts'
import type { Operation } from '../../http/operation.ts'
import { readParameters } from '../../http/requests/query.ts'
import { withSmallBody } from '../../http/requests/read-body.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'
import type { Grant } from '../../keys/key.ts'
import type { Pepper } from '../../keys/index.ts'
import type { BodyReading } from '../../http/requests/body-members.ts'
import type { ChangeOutcome, EndpointChange, EndpointRecord, WebhookStore } from '../endpoint.ts'
import type { WebhookOptions } from '../receiver.ts'
import { maySeeEndpoint } from '../rights.ts'
import { actorOf } from '../../tenants/routes/tenants.ts'
import { webhookMembers } from './webhook-answer.ts'
import { maxWebhookBodyBytes } from './webhook-body.ts'

/** What the operations on webhooks need. */
export interface WebhookContext extends BodyContext {
  readonly basePath: string
  readonly clock: () => number
  readonly events: EventStore
  readonly limits: ServiceLimits
  readonly peppers: readonly Pepper[]
  readonly webhooks: WebhookStore
  /** To whom this node sends; `off`: it sends to nobody. */
  readonly webhookOptions: WebhookOptions | 'off'
  /** An endpoint was made, changed or removed: the sender of this node looks at once, those of others soon. */
  readonly webhookChanged: () => void
}

const path = '/v1/webhooks'
const named = { one: 'a webhook', parameter: 'webhookId' } as const
export const webhookParams = idParams(named)

export function readWebhookId(params: readonly string[]): string | Refused {
  return readId(params, named)
}

export const noWebhook = refused({ code: 'webhook_not_found' })

interface WebhookRoute<Parameters> extends RouteWords {
  readonly method: Operation['method']
  /** After the path of all webhooks, or of the one. */
  readonly path?: string
  readonly query?: Readonly<Record<string, ParameterSchema>>
  /** Reads the parameters of the query, and notes faults. */
  readonly read: (values: ReadonlyMap<string, string>, errors: ProblemError[]) => Parameters
}

/** On the webhooks of the tenant. `answer`: `text` is the body, if the operation takes one. */
export function tenantsWebhooks<Parameters>(
  context: WebhookContext,
  route: WebhookRoute<Parameters> & {
    readonly answer: (asked: {
      readonly access: Access
      /** For the tenant of the request. */
      readonly grant: Grant
      readonly parameters: Parameters
      readonly text: string
    }) => Promise<Outcome>
  },
): Operation {
  return operation(context, route, '', ({ access, parameters, text }) => {
    const grant = grantOf(access)
    return 'refusal' in grant ? grant : route.answer({ access, grant, parameters, text })
  })
}

/** On the webhook that the path names. */
export function oneWebhook<Parameters>(
  context: WebhookContext,
  route: WebhookRoute<Parameters> & {
    readonly answer: (asked: WebhookRequest<Parameters>) => Outcome | Promise<Outcome>
  },
): Operation {
  const problems = ['webhook_not_found', ...(route.problems ?? [])] as const
  return operation(
    context,
    { ...route, problems },
    `/:${named.parameter}`,
    async ({ access, parameters, params, text }) => {
      const grant = grantOf(access)
      if ('refusal' in grant) return grant
      const endpointId = readWebhookId(params)
      if (typeof endpointId !== 'string') return endpointId
      const endpoint = await context.webhooks.find(endpointId)
      if (endpoint === undefined || !maySeeEndpoint(grant, endpoint)) return noWebhook
      return route.answer({ access, grant, parameters, text, endpoint })
    },
  )
}

export interface WebhookRequest<Parameters> {
  readonly access: Access
  /** For the tenant of the request. */
  readonly grant: Grant
  readonly parameters: Parameters
  /** The body, if the operation takes one. */
  readonly text: string
  /** It exists, and the key may see it. */
  readonly endpoint: EndpointRecord
}

interface Asked<Parameters> {
  readonly access: Access
  readonly parameters: Parameters
  readonly params: readonly string[]
  readonly text: string
}

function operation<Parameters>(
  context: WebhookContext,
  route: WebhookRoute<Parameters>,
  which: string,
  answer: (asked: Asked<Parameters>) => Outcome | Promise<Outcome>,
): Operation {
  const { query = {}, path: rest = '', read, ...words } = route
  const { method, body } = words
  const names = Object.keys(query)
  return keyedOperation({
    ...words,
    path: `${path}${which}${rest}`,
    scope: 'anyWebhooks',
    tag: 'Webhooks',
    ...(names.length > 0 && { query: { type: 'object', properties: query } }),
    ...(which !== '' && { params: webhookParams }),
    problems: [...(method === 'GET' ? [] : (['storage_full'] as const)), ...(words.problems ?? [])],
    prepare({ query: written, params }) {
      const reading = readParameters(written, names, context.limits, read)
      if (reading.kind === 'refused') return () => reading
      const { parameters } = reading
      const id = which === '' ? '' : readWebhookId(params)
      if (typeof id !== 'string') return () => id
      if (body === undefined) return (_request, access) => answer({ access, parameters, params, text: '' })
      return (request, access) =>
        withSmallBody(
          context,
          request,
          access,
          async (text) => answer({ access, parameters, params, text }),
          maxWebhookBodyBytes,
        )
    },
  })
}

/** The grant for the one tenant that the request is for. */
function grantOf({ grants }: Access): Grant | Refused {
  const [first, ...others] = grants.filter(({ scopes }) => scopes.some((one) => one.endsWith(':webhooks')))
  if (first === undefined) return refused({ code: 'missing_scope' })
  return others.length === 0 ? first : refused({ code: 'ambiguous_tenant' })
}

/** Why the grant may not have events of the feed posted, or decide where they are posted to. */
export function refusalOfPosting({ scopes }: Grant, feed: FeedName): Refused | undefined {
  const { readScope, webhooksScope } = feeds[feed]
  const missing = [webhooksScope, readScope].find((scope) => !scopes.includes(scope))
  if (missing === undefined) return undefined
  const detail = `This needs a key with the scopes ${webhooksScope} and ${readScope}; yours lacks ${missing}. Ask the operator for one that has both.`
  return refused({ code: 'missing_scope', detail })
}

/** The body that was read, or why it is refused. */
export function bodyOf<Body>(reading: BodyReading<Body>): { readonly body: Body } | Refused {
  return reading.kind === 'body' ? reading : refused({ code: 'invalid_body', errors: reading.errors })
}

/** Writes a change, and lets the sender know. */
export async function changeWebhook(
  context: Pick<WebhookContext, 'webhooks' | 'webhookChanged'>,
  { access, endpoint }: Pick<WebhookRequest<unknown>, 'access' | 'endpoint'>,
  change: EndpointChange,
): Promise<ChangeOutcome> {
  const outcome = await context.webhooks.change(endpoint.endpointId, change, actorOf(access))
  if (outcome.kind === 'changed') context.webhookChanged()
  return outcome
}

/** `further`: members beside those of the endpoint. */
export function changedAnswer(
  { clock }: Pick<WebhookContext, 'clock'>,
  outcome: ChangeOutcome,
  further: { readonly status?: number; readonly secret?: string | undefined } = {},
): Outcome {
  if (outcome.kind === 'unknown') return noWebhook
  const { status, secret } = further
  const shown = webhookMembers(outcome.endpoint, clock())
  return uncachedAnswer({ ...(secret !== undefined && { secret }), ...shown }, status)
}
