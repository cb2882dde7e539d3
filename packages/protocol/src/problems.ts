/**
 * The problem codes of the service, a closed set (D6, D9): each with its status and words. They are the only table of them: the service,
 * the client's codes and the description are made of it.
 */
import { consoleProblems, serviceProblems } from './service-problems.ts'
import type { ProblemKind } from './service-problems.ts'

export type { ProblemKind }

/** Code → status and words. Codes are part of the protocol: they are added, never renamed. */
export const problems = {
  invalid_parameter: {
    status: 400,
    title: 'Invalid parameter',
    detail: 'At least one parameter of the request is invalid; see errors.',
  },
  invalid_target: {
    status: 400,
    title: 'Invalid request target',
    detail: 'The request target must be a plain path with an optional query.',
  },
  invalid_host: {
    status: 400,
    title: 'Invalid Host header',
    detail: 'A request must have exactly one Host header, with a host name.',
  },
  malformed_request: {
    status: 400,
    title: 'Malformed request',
    detail: 'The request is not well-formed HTTP/1.1.',
  },
  invalid_body: {
    status: 400,
    title: 'Invalid body',
    detail: 'Nothing was stored; see errors for what to change.',
  },
  webhook_address_refused: {
    status: 400,
    title: 'Address of webhook refused',
    detail: 'The service posts to public addresses by https only. Nothing was changed.',
  },
  unauthorized: {
    status: 401,
    title: 'Invalid or missing API key',
    detail:
      'The key in x-api-key is not known here. Check that it is a key of this service, or ask the operator for a new one.',
  },
  key_expired: {
    status: 401,
    title: 'Key expired',
    detail: 'This key has expired. Ask the operator for a new one.',
  },
  key_revoked: {
    status: 401,
    title: 'Key revoked',
    detail: 'This key was revoked. Ask the operator for a new one.',
  },
  key_disabled: {
    status: 401,
    title: 'Key disabled',
    detail: 'The tenant of this key is suspended. Ask the operator.',
  },
  key_scope: {
    status: 401,
    title: 'Key cannot read this feed',
    detail: 'This key does not read this feed, or reads it for several tenants and the request names none.',
  },
  key_network: {
    status: 401,
    title: 'Key not allowed from this network',
    detail:
      'This key can be used from certain networks only, and the request came from another one. Ask whoever gave you the key.',
  },
  missing_scope: {
    status: 403,
    title: 'Missing scope',
    detail: 'This key does not have the scope that the operation needs. Ask the operator for one that does.',
  },
  ambiguous_tenant: {
    status: 403,
    title: 'Tenant not specified',
    detail: 'This key has that scope for several tenants. Name one in the header x-tenant, or as ?tenant=.',
  },
  branch_not_granted: {
    status: 403,
    title: 'Branch not granted',
    detail: 'This key can publish for certain branches only; see errors. Nothing was stored.',
  },
  scope_not_held: {
    status: 403,
    title: 'Cannot grant this scope',
    detail: 'A key can grant only scopes that it has itself.',
  },
  tenant_not_found: {
    status: 404,
    title: 'Tenant not found',
    detail: 'There is no tenant with this id that this key can see.',
  },
  key_not_found: {
    status: 404,
    title: 'Key not found',
    detail: 'There is no key with this id that this key can see.',
  },
  contact_not_found: {
    status: 404,
    title: 'Contact not found',
    detail: 'This tenant has no event of a contact with this reference.',
  },
  event_not_found: { status: 404, title: 'Event not found', detail: 'This feed has no event with this id.' },
  subject_not_found: {
    status: 404,
    title: 'Property or contact not found',
    detail:
      'This feed has no event of this property or contact. Its reference is the agent_ref or contact_ref of its payload, not the id of an event: GET /v1/property-events/snapshot and GET /v1/contact-events/snapshot have all.',
  },
  erasure_not_found: {
    status: 404,
    title: 'Erasure not found',
    detail: 'There is no receipt with this id that this key can see.',
  },
  hold_not_found: {
    status: 404,
    title: 'Hold not found',
    detail: 'There is no hold with this id that this key can see.',
  },
  restriction_not_found: {
    status: 404,
    title: 'Restriction not found',
    detail: 'There is no restriction with this id that this key can see.',
  },
  deletion_not_found: {
    status: 404,
    title: 'Deletion not found',
    detail: 'There is no certificate of a deletion with this id.',
  },
  webhook_not_found: {
    status: 404,
    title: 'Webhook not found',
    detail: 'There is no webhook with this id that this key can see.',
  },
  path_not_found: { status: 404, title: 'Path not found', detail: 'There is nothing at this path.' },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    detail: 'This path does not accept this method; see the Allow header.',
  },
  not_acceptable: {
    status: 406,
    title: 'Not acceptable',
    detail: 'The Accept header refuses the only media type of this answer.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timed out',
    detail: 'The request did not arrive completely in time. Send it again, in smaller parts if it is large.',
  },
  id_conflict: {
    status: 409,
    title: 'Event id already used',
    detail: 'An event with this id and other content is stored already. Nothing was stored.',
  },
  unknown_subject: {
    status: 409,
    title: 'Nothing to remove',
    detail: 'The feed has no event of this subject, so there is nothing to remove. Nothing was stored.',
  },
  cursor_beyond_head: {
    status: 409,
    title: 'Number beyond the end of the feed',
    detail:
      'The feed has no event with this number yet. The store was restored, or the number is from another feed: start again with a snapshot.',
  },
  event_is_latest: {
    status: 409,
    title: 'Latest event cannot be erased alone',
    detail:
      'The event says how its property or contact is now, so it cannot be erased alone. Erase the property or the contact, or publish a newer event first.',
  },
  on_hold: {
    status: 409,
    title: 'Property or contact on hold',
    detail:
      'It must be kept for now, so it cannot be erased. Wait until the hold has expired, or end it if it is no longer needed.',
  },
  webhook_limit: {
    status: 409,
    title: 'Too many webhooks',
    detail: 'This tenant has as many webhooks as it may have. Delete one that is no longer needed.',
  },
  subject_waiting: {
    status: 409,
    title: 'Property or contact already waiting',
    detail:
      'An event of this property or contact is waiting to be tried again at this webhook, and later ones follow it. Nothing was changed.',
  },
  tenant_exists: {
    status: 409,
    title: 'Tenant already exists',
    detail: 'Another tenant has this id, name or reference.',
  },
  tenant_in_use: {
    status: 409,
    title: 'Tenant in use',
    detail: 'A tenant can be deleted once it is suspended or has left, and nothing of it is being erased.',
  },
  key_ended: {
    status: 409,
    title: 'Key has ended',
    detail: 'This key was revoked or has expired, so it can no longer be changed. Create a new one.',
  },
  epoch_changed: {
    status: 409,
    title: 'Epoch changed',
    detail:
      'The feed is in a new epoch, and numbers of the one you named cannot be continued: start again with a snapshot.',
  },
  moment_expired: {
    status: 409,
    title: 'List of current events expired',
    detail:
      'The pages of a list of current events show one moment, which page 1 fixes for 10 minutes. This key has no such list, or it has expired: start again with page 1.',
  },
  body_too_large: {
    status: 413,
    title: 'Body too large',
    detail: 'The body is larger than this service accepts. Send several smaller requests.',
  },
  target_too_long: {
    status: 414,
    title: 'URL too long',
    detail: 'The path and query together are longer than this service accepts.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported content type',
    detail: 'Send application/json or application/x-ndjson.',
  },
  unsupported_charset: {
    status: 415,
    title: 'Unsupported charset',
    detail: 'Send UTF-8; other charsets are not accepted.',
  },
  unsupported_content_encoding: {
    status: 415,
    title: 'Unsupported content encoding',
    detail: 'Send gzip, or the body without content encoding.',
  },
  expectation_failed: {
    status: 417,
    title: 'Expectation failed',
    detail: 'The only expectation that this service supports is 100-continue.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    detail: 'This key has used up its requests for now. Wait for the time in Retry-After.',
  },
  too_many_at_once: {
    status: 429,
    title: 'Too many concurrent requests',
    detail:
      'This key already has as many requests in progress as it may have at the same time. Send the next one when one of them has been answered.',
  },
  too_many_snapshots: {
    status: 429,
    title: 'Too many concurrent snapshots',
    detail:
      'This key is already reading as many snapshots as it may read at the same time. Try again when one of them has ended.',
  },
  too_many_waiting: {
    status: 429,
    title: 'Too many waiting requests',
    detail:
      'As many requests as allowed are already waiting for events, of this key or of all keys on this node. One for each category of a feed is enough.',
  },
  too_many_failures: {
    status: 429,
    title: 'Too many failed authentications',
    detail: 'Too many requests without a valid key came from this address. Wait for the time in Retry-After.',
  },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    detail: 'The request has too many headers, or they are too long together.',
  },
  ...consoleProblems,
  ...serviceProblems,
} as const satisfies Readonly<Record<string, ProblemKind>>

export type ProblemCode = keyof typeof problems
