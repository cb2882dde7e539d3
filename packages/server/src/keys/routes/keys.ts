/** `/v1/admin/keys`: listing keys, and making, changing, rotating and revoking one (PROTOCOL §12). */
import { parseUuid } from '@property-events/protocol'
import type { ProblemError } from '@property-events/protocol'
import type { KeyRecord } from '../key.ts'
import { refusalUnlessFresh } from '../../console/fresh-sign-in.ts'
import { refused, uncachedAnswer, invalidParameters } from '../../http/exchange.ts'
import type { Outcome, Refused } from '../../http/exchange.ts'
import type { Access } from '../../http/access.ts'
import { success } from '../../http/problem/problem.ts'
import { quoteInput } from '../../http/requests/echo-text.ts'
import { maxKeyBodyBytes, readKeyChange, readNewKey, readRotation } from './key-body.ts'
import type { NewKeyBody } from './key-body.ts'
import type { Operation } from '../../http/operation.ts'
import { withReadBody } from '../../http/requests/read-body.ts'
import { adminOperation, noParameters } from '../../http/admin-operation.ts'
import { aboutKey, noKey } from './key-path.ts'
import { noTenant } from '../../tenants/routes/tenant-operation.ts'
import { refusalOfBranchSets } from './branch-sets.ts'
import { timeOf } from '../../http/time-of.ts'
import { keyMembers } from './key-answer.ts'
import { listBy, positionCursor } from '../../http/listed.ts'
import { reachedTenants, refusalOfGiving, seenKey } from '../access/reach.ts'
import { actorOf } from '../../tenants/routes/tenants.ts'
import type { AdminContext } from '../../http/admin-operation.ts'
import type { BodyContext } from '../../http/requests/read-body.ts'
import type { KeyIssuer } from '../index.ts'
import type { BranchSetsContext } from './branch-sets.ts'
import type { TenantStore } from '../../tenants/tenant.ts'

/** What the operations on keys need. */
export interface KeysContext extends AdminContext, BranchSetsContext, BodyContext {
  readonly basePath: string
  readonly keyIssuer: KeyIssuer
  readonly tenants: TenantStore
}

const keys = listBy(positionCursor)

export function listKeys(context: KeysContext): Operation {
  return adminOperation(context, {
    method: 'GET',
    path: '/keys',
    need: 'admin:inspect',
    operationId: 'listKeys',
    summary: 'List keys, without their text',
    description:
      'In order of creation, including those that have ended. `tenant`: those with a grant for it; a key of several tenants must name one. Repeat with `after` = `next` until `next` is null.',
    query: {
      ...keys.query,
      tenant: { type: 'string', format: 'uuid', description: 'Only keys with a grant for this tenant.' },
    },
    ok: { description: 'The keys that the key may see.', schema: 'Keys' },
    problems: ['tenant_not_found'],
    read: (values, errors) => ({
      ...keys.read(values, errors),
      tenantId: readTenantId(values, errors),
    }),
    async answer({ access, parameters: { after = 0, limit, tenantId: asked } }) {
      const tenantId = askedTenant(access, 'admin:inspect', asked)
      if (typeof tenantId === 'object') return tenantId
      if (tenantId !== undefined && (await context.tenants.findTenant(tenantId)) === undefined)
        return noTenant
      const found = await context.keys.keysAfter({ after, limit: limit + 1, tenantId })
      const { items, next } = keys.page(found, limit, ({ place }) => place)
      const shown = items.map(({ record }) => keyMembers(seenKey(access, 'admin:inspect', record) ?? record))
      return uncachedAnswer({ items: shown, next })
    },
  })
}

export function readTenantId(
  values: ReadonlyMap<string, string>,
  errors: ProblemError[],
): string | undefined {
  const text = values.get('tenant')
  if (text === undefined) return undefined
  const tenantId = parseUuid(text)
  if (tenantId === undefined) {
    const message = `${quoteInput(text)} is not the id of a tenant, a UUID.`
    errors.push({ parameter: 'tenant', code: 'not_a_uuid', message })
  }
  return tenantId
}

/** The tenant that a list is about; `undefined` for all. For a key of one tenant it is that tenant. */
export function askedTenant(
  access: Access,
  need: 'admin:inspect' | 'admin:audit',
  asked: string | undefined,
): string | undefined | Refused {
  const reached = reachedTenants(access, need)
  if (reached === undefined) return asked
  if (asked !== undefined) return reached.includes(asked) ? asked : noTenant
  const [only, ...others] = reached
  if (only !== undefined && others.length === 0) return only
  const message = 'This key covers several tenants: name one of them.'
  return invalidParameters({ parameter: 'tenant', code: 'missing', message })
}

export function getKey(context: KeysContext): Operation {
  return adminOperation(context, {
    ...noParameters,
    method: 'GET',
    ...aboutKey,
    path: '/keys/:keyId',
    need: 'admin:inspect',
    operationId: 'getKey',
    summary: 'Get a key, without its text',
    description:
      'Its label, grants, end, rate and networks. A key of a tenant sees the grants for its tenant.',
    ok: { description: 'The key.', schema: 'Key' },
    problems: ['key_not_found'],
    async answer({ access, params: [keyId = ''] }) {
      const found = await context.keys.findKey(keyId)
      const seen = found && seenKey(access, 'admin:inspect', found.record)
      return seen === undefined ? noKey : uncachedAnswer(keyMembers(seen))
    },
  })
}

export function createKey(context: KeysContext): Operation {
  return adminOperation(context, {
    ...noParameters,
    method: 'POST',
    path: '/keys',
    need: 'admin:manage',
    operationId: 'createKey',
    summary: 'Create a key',
    description:
      'Its text is in this answer and nowhere else. A key gives only scopes that it has itself; with `tenant:manage` also those of its tenant’s feeds, and with `admin:manage` those of every tenant.',
    body: 'NewKey',
    ok: { status: success.created, description: 'The key with its text.', schema: 'IssuedKey' },
    problems: ['tenant_not_found', 'scope_not_held'],
    answer(asked) {
      const read = (text: string) => readNewKey(text, Date.now())
      return withReadBody(
        context,
        asked,
        read,
        (body) => create(context, asked.access, body),
        maxKeyBodyBytes,
      )
    },
  })
}

async function create(context: KeysContext, access: Access, body: NewKeyBody): Promise<Outcome> {
  const nowMs = Date.now()
  const reached = reachedTenants(access, 'admin:manage')
  if (body.grants.some(({ tenantId }) => reached?.includes(tenantId) === false)) return noTenant
  const refusal = refusalOfGiving(access, body) ?? refusalOfOperator(access, body)
  if (refusal !== undefined) return refusal
  const tooMany = await refusalOfBranchSets(context, body.grants, nowMs)
  if (tooMany !== undefined) return tooMany
  const issued = await context.keyIssuer.issue({ ...body, nowMs, actor: actorOf(access) })
  if (issued.kind === 'unknownTenant') return noTenant
  return issuedAnswer(context, issued.text, issued.record)
}

/** A key made in an abandoned browser would outlast the session. */
function refusalOfOperator(access: Access, { operator }: Pick<KeyRecord, 'operator'>): Refused | undefined {
  return operator ? refusalUnlessFresh(access) : undefined
}

function issuedAnswer(
  { basePath }: KeysContext,
  text: string,
  record: KeyRecord,
  further: object = {},
): Outcome {
  const location = `${basePath}/v1/admin/keys/${record.keyId}`
  return uncachedAnswer({ key: text, ...keyMembers(record), ...further }, success.created, { location })
}

export function changeKey(context: KeysContext): Operation {
  return adminOperation(context, {
    ...noParameters,
    method: 'PATCH',
    ...aboutKey,
    path: '/keys/:keyId',
    need: 'admin:manage',
    operationId: 'changeKey',
    summary: 'Change a key: label, expiry, rate or networks',
    description:
      'What is left out stays; null removes it. Takes effect within 2 seconds on every node. Needs the scopes that the key has, as making it would.',
    body: 'KeyChange',
    ok: { description: 'The key as it is now.', schema: 'Key' },
    problems: ['key_not_found', 'key_ended', 'scope_not_held'],
    answer: ({ request, access, params: [keyId = ''] }) =>
      withReadBody(
        context,
        { request, access },
        (text) => readKeyChange(text, Date.now()),
        async (change) => {
          const refusal = await refusalOfChange(context, access, keyId, 'holds')
          if (refusal !== undefined) return refusal
          const outcome = await context.keys.changeKey(keyId, change, actorOf(access))
          if (outcome.kind === 'changed') return uncachedAnswer(keyMembers(outcome.record))
          return outcome.kind === 'unknownKey' ? noKey : refused({ code: 'key_ended' })
        },
      ),
  })
}

export function rotateOneKey(context: KeysContext): Operation {
  return adminOperation(context, {
    ...noParameters,
    method: 'POST',
    ...aboutKey,
    path: '/keys/:keyId/rotate',
    need: 'admin:manage',
    operationId: 'rotateKey',
    summary: 'Rotate a key',
    description:
      'With the same grants, scopes, label, rate and networks, and as long a life. The old key ends `overlapHours` later, or at its own end if that is earlier. Both are one commit.',
    body: 'RotateRequest',
    ok: { status: success.created, description: 'The new key with its text.', schema: 'RotatedKey' },
    problems: ['key_not_found', 'key_ended', 'scope_not_held'],
    answer: ({ request, access, params: [keyId = ''] }) =>
      withReadBody(context, { request, access }, readRotation, async ({ overlapHours }) => {
        const refusal = await refusalOfChange(context, access, keyId, 'holds', refusalOfOperator)
        if (refusal !== undefined) return refusal
        const rotated = await context.keyIssuer.rotate(keyId, {
          nowMs: Date.now(),
          overlapMs: Math.round(overlapHours * 3_600_000),
          actor: actorOf(access),
        })
        if (rotated.kind !== 'rotated') {
          return rotated.kind === 'unknownKey' ? noKey : refused({ code: 'key_ended' })
        }
        const { old, record } = rotated
        const replaced = { keyId: old.keyId, expiresAt: timeOf(old.expiresMs) }
        return issuedAnswer(context, rotated.text, record, { replaced })
      }),
  })
}

export function revokeKey(context: KeysContext): Operation {
  return adminOperation(context, {
    ...noParameters,
    method: 'POST',
    ...aboutKey,
    path: '/keys/:keyId/revoke',
    need: 'admin:manage',
    operationId: 'revokeKey',
    summary: 'Revoke a key',
    description: 'Within 2 seconds on every node. One that was revoked before stays as it is.',
    ok: { description: 'The key as it is now.', schema: 'Key' },
    problems: ['key_not_found', 'scope_not_held'],
    async answer({ access, params: [keyId = ''] }) {
      const refusal = await refusalOfChange(context, access, keyId, 'sees')
      if (refusal !== undefined) return refusal
      await context.keys.revokeKey(keyId, Date.now(), actorOf(access))
      const found = await context.keys.findKey(keyId)
      return found === undefined ? noKey : uncachedAnswer(keyMembers(found.record))
    },
  })
}

/** `holds`: the caller could have made the key as well; `sees`: the key belongs only to the caller's tenants. */
export async function refusalOfChange(
  context: KeysContext,
  access: Access,
  keyId: string,
  wanted: 'holds' | 'sees',
  further: (access: Access, record: KeyRecord) => Refused | undefined = () => undefined,
): Promise<Refused | undefined> {
  const record = (await context.keys.findKey(keyId))?.record
  const seen = record && seenKey(access, 'admin:manage', record)
  if (record === undefined || seen === undefined) return noKey
  if (seen.grants.length < record.grants.length) {
    const detail = 'This key also opens other tenants, so only an operator can change it.'
    return refused({ code: 'scope_not_held', detail })
  }
  return (wanted === 'holds' ? refusalOfGiving(access, record) : undefined) ?? further(access, record)
}
