/** `DELETE /v1/admin/tenants/{tenantId}`, and the certificates of what was deleted (PROTOCOL §12.9). */
import { uuidV7 } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import type { DeletionRefusal, DeletionStore } from './deletion.ts'
import { refused, uncachedAnswer, invalidParameters } from '../../http/exchange.ts'
import type { Outcome } from '../../http/exchange.ts'
import { success } from '../../http/problem/problem.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { lastDayOf } from '../../privacy/hold/hold-answer.ts'
import { idCursor, idParams, listBy, readId } from '../../http/listed.ts'
import type { Named } from '../../http/listed.ts'
import type { Operation } from '../../http/operation.ts'
import { adminOperation, noParameters } from '../../http/admin-operation.ts'
import { noTenant, tenantOperation } from '../routes/tenant-operation.ts'
import { certificateOf, feedMembers } from './certificate.ts'
import { actorOf } from '../routes/tenants.ts'
import type { TenantContext } from '../routes/tenant-operation.ts'

interface Context extends TenantContext {
  readonly basePath: string
  readonly deletions: DeletionStore
  readonly exportsTenants: boolean
}

const exports = ['file', 'none'] as const

export function deleteTenant(context: Context): Operation {
  return tenantOperation(context, {
    method: 'DELETE',
    path: '/tenants/:tenantId',
    need: 'admin:manage',
    operatorsOnly: true,
    whileDeleting: true,
    operationId: 'deleteTenant',
    summary: 'Delete a tenant with all it owns',
    description:
      'Of a tenant that is suspended or has left. It is exported first, closed at once, and deleted in steps: ask for the certificate in `Location` until its state is `deleted`. Sent again, it answers the same certificate.',
    query: {
      dryRun: {
        type: 'boolean',
        default: false,
        description: 'Count what would be deleted, and change nothing.',
      },
      export: {
        type: 'string',
        enum: [...exports],
        default: 'file',
        description: '`none`: nothing is exported first.',
      },
    },
    ok: { status: success.accepted, description: 'It has started, and is on disk.', schema: 'Deletion' },
    alsoOk: { status: success.ok, description: 'A dry run.', schema: 'DeletionPlan' },
    problems: ['tenant_in_use', 'on_hold', 'tenant_moving'],
    read: (values, errors) => ({
      dryRun: readWord('dryRun', ['true', 'false'], values, errors) === 'true',
      by: readWord('export', exports, values, errors) ?? 'file',
    }),
    async answer({ tenant: { tenantId }, access, parameters: { dryRun, by } }) {
      if (dryRun) return planOf(context, tenantId)
      if (by === 'file' && !context.exportsTenants) return noFolder()
      const request = {
        deletionId: uuidV7(Date.now()),
        tenantId,
        export: by === 'file' ? 'service' : 'none',
      } as const
      const outcome = await context.deletions.begin(request, actorOf(access))
      if (outcome.kind !== 'begun') return refusalOf(outcome)
      const location = `${context.basePath}/v1/admin/deletions/${outcome.deletion.deletionId}`
      return uncachedAnswer(certificateOf(outcome.deletion), success.accepted, { location })
    },
  })
}

async function planOf({ deletions }: Context, tenantId: string): Promise<Outcome> {
  const counted = await deletions.count(tenantId)
  if (counted.kind !== 'counted') return noTenant
  const refusal = await deletions.refusal(tenantId)
  return uncachedAnswer({
    dryRun: true,
    tenantId,
    feeds: counted.feeds.map((feed) => feedMembers(feed)),
    counts: counted.counts,
    refusedBecause: refusal === undefined ? null : wordsOf(refusal),
  })
}

function refusalOf(refusal: DeletionRefusal): Outcome {
  if (refusal.kind === 'unknownTenant') return noTenant
  return refused({ code: codeOf(refusal.kind), detail: `${wordsOf(refusal)} Nothing was deleted.` })
}

function codeOf(kind: Exclude<DeletionRefusal['kind'], 'unknownTenant'>) {
  if (kind === 'onHold') return 'on_hold'
  return kind === 'tenantMoving' ? 'tenant_moving' : 'tenant_in_use'
}

function wordsOf(refusal: DeletionRefusal): string {
  switch (refusal.kind) {
    case 'unknownTenant':
      return 'There is no such tenant.'
    case 'inUse':
      return 'The keys of this tenant work. Suspend it first, or have it leave and wait until reading has ended.'
    case 'erasing':
      return 'An erasure or a restriction of this tenant is under way. Try again in a moment.'
    case 'onHold':
      return `${refusal.holds} of its properties or contacts are on hold, the last until ${lastDayOf(refusal.untilMs)}.`
    case 'tenantMoving':
  }
  return 'This tenant is being moved to or from another store.'
}

function noFolder(): Outcome {
  const message =
    'This service has no folder for exports. Send export=none to delete without one, or start it with --tenant-exports.'
  return invalidParameters({ parameter: 'export', code: 'not_possible', message })
}

const deletion: Named = { one: 'a deletion', parameter: 'deletionId' }

export function getDeletion(context: Context): Operation {
  return adminOperation(context, {
    ...noParameters,
    method: 'GET',
    path: '/deletions/:deletionId',
    params: idParams(deletion).properties,
    refusalOfPath(params) {
      const id = readId(params, deletion)
      return typeof id === 'string' ? undefined : id
    },
    need: 'admin:inspect',
    operatorsOnly: true,
    operationId: 'getDeletion',
    summary: 'Get the certificate of a deletion',
    description:
      'How far it is, and what was deleted. It is kept for ever, and says nothing personal once its state is `deleted`.',
    ok: { description: 'The certificate.', schema: 'Deletion' },
    problems: ['deletion_not_found'],
    async answer({ params }) {
      const id = readId(params, deletion)
      if (typeof id !== 'string') return id
      const found = await context.deletions.find(id)
      return found === undefined
        ? refused({ code: 'deletion_not_found' })
        : uncachedAnswer(certificateOf(found))
    },
  })
}

const certificates = listBy(idCursor)

export function listDeletions(context: Context): Operation {
  return adminOperation(context, {
    method: 'GET',
    path: '/deletions',
    need: 'admin:inspect',
    operatorsOnly: true,
    operationId: 'listDeletions',
    summary: 'List the certificates of deletions',
    description: 'The oldest first. Repeat with `after` = `next` until `next` is null.',
    query: certificates.query,
    ok: { description: 'The certificates.', schema: 'Deletions' },
    read: certificates.read,
    async answer({ parameters: { limit, after } }) {
      const found = await context.deletions.list(after, limit + 1)
      const { items, next } = certificates.page(found, limit, ({ deletionId }) => deletionId)
      return uncachedAnswer({ items: items.map(certificateOf), next })
    },
  })
}

function readWord<Word extends string>(
  parameter: string,
  allowed: readonly Word[],
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): Word | undefined {
  const text = values.get(parameter)
  const word = allowed.find((one) => one === text)
  if (text === undefined || word !== undefined) return word
  const message = `${quoteInput(text)} is not allowed; ${parameter} must be ${allowed.join(' or ')}.`
  errors.push({ parameter, code: 'unknown_value', message })
  return undefined
}
