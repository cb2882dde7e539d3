/** What the audit rows of changes of endpoints contain. */
import type { AuditChange } from './audit.ts'
import type {
  DisableReason,
  EndpointChange,
  EndpointRecord,
  EndpointSettings,
  EndpointState,
  NewEndpoint,
} from '../webhooks/endpoint.ts'

type Changes = readonly AuditChange[]

export function webhookCreated({
  tenantId,
  endpointId,
  settings: { feed, events },
}: Pick<NewEndpoint, 'tenantId' | 'endpointId' | 'settings'>): Changes {
  return [{ action: 'webhook.created', tenant: tenantId, target: endpointId, detail: { feed, events } }]
}

/** For one commit: `before` is the endpoint as found under its lock. */
export function webhookChanged(
  before: EndpointRecord,
  after: EndpointRecord,
  { secret, cursor }: EndpointChange,
): Changes {
  const row = { tenant: after.tenantId, target: after.endpointId }
  const settings = changedSettings(before.settings, after.settings)
  return [
    ...(settings.length === 0 ? [] : [{ action: 'webhook.changed', ...row, detail: { settings } } as const]),
    ...(isSameState(before.state, after.state)
      ? []
      : stateSet(after.tenantId, after.endpointId, after.state)),
    ...(secret === undefined
      ? []
      : [
          {
            action: 'webhook.secret_added',
            ...row,
            detail: { formerEndMs: secret.presentEndMs },
          } as const,
        ]),
    ...(cursor === undefined
      ? []
      : [{ action: 'webhook.moved', ...row, detail: { after: cursor.after } } as const]),
  ]
}

function changedSettings(before: EndpointSettings, after: EndpointSettings): readonly string[] {
  const values = new Map<string, unknown>(Object.entries(before))
  return Object.entries(after).flatMap(([name, value]) => (values.get(name) === value ? [] : [name]))
}

function isSameState(one: EndpointState, other: EndpointState): boolean {
  if (one.kind === 'enabled' || other.kind === 'enabled') return one.kind === other.kind
  return one.kind === other.kind && one.reason === other.reason
}

function stateSet(tenant: string, target: string, state: EndpointState): Changes {
  if (state.kind === 'enabled') return [{ action: 'webhook.enabled', tenant, target, detail: {} }]
  if (state.kind === 'disabled') return webhookDisabled(tenant, target, state.reason)
  return [{ action: 'webhook.paused', tenant, target, detail: { reason: state.reason } }]
}

/** An endpoint of another store. */
export function webhookTaken(endpoint: EndpointRecord, paused: EndpointState): Changes {
  return [...webhookCreated(endpoint), ...stateSet(endpoint.tenantId, endpoint.endpointId, paused)]
}

/** Endpoints of a copy. */
export function webhooksCopied(
  rows: readonly { readonly tenant: string; readonly endpoint_id: string }[],
): Changes {
  return rows.flatMap(({ tenant, endpoint_id: endpointId }) =>
    stateSet(tenant, endpointId, { kind: 'paused', reason: 'copied', sinceMs: 0 }),
  )
}

export function webhookDisabled(tenant: string, endpointId: string, reason: DisableReason): Changes {
  return [{ action: 'webhook.disabled', tenant, target: endpointId, detail: { reason } }]
}

export function webhookResent(
  { tenantId, endpointId }: Pick<EndpointRecord, 'tenantId' | 'endpointId'>,
  properties: number,
): Changes {
  return [{ action: 'webhook.resent', tenant: tenantId, target: endpointId, detail: { properties } }]
}

export function webhookRemoved({
  tenantId,
  endpointId,
}: Pick<EndpointRecord, 'tenantId' | 'endpointId'>): Changes {
  return [{ action: 'webhook.removed', tenant: tenantId, target: endpointId, detail: {} }]
}
