/**
 * The problem codes of the service, a closed set (D6, D9): each with its status and words. They are the only table of them: the service,
 * the client's codes and the description are made of it.
 */
import { consoleProblems } from './console-problems.ts'
import { serviceProblems } from './service-problems.ts'
import type { ProblemKind } from './service-problems.ts'

export type { ProblemKind }

/** Code → status and words. Codes are part of the protocol: they are added, never renamed. */
export const problems = {
  invalid_parameter: {
    status: 400,
    title: 'A parameter is not usable',
    detail: 'At least one parameter of the request is not usable; see errors.',
  },
  invalid_target: {
    status: 400,
    title: 'The request target is not usable',
    detail: 'The request target is not a plain path with an optional query.',
  },
  invalid_host: {
    status: 400,
    title: 'The Host header is not usable',
    detail: 'A request must have exactly one Host header, with a host name.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not HTTP',
    detail: 'The request is not well-formed HTTP/1.1.',
  },
  invalid_body: {
    status: 400,
    title: 'The body is not usable',
    detail: 'Nothing was stored; see errors for what to change.',
  },
  unauthorized: {
    status: 401,
    title: 'No valid key',
    detail:
      'The key in x-api-key is not known here. Check that it is a key of this service, or ask the operator for a new one.',
  },
  key_expired: {
    status: 401,
    title: 'The key has expired',
    detail: 'This key has expired. Ask the operator for a new one.',
  },
  key_revoked: {
    status: 401,
    title: 'The key was revoked',
    detail: 'This key was revoked. Ask the operator for a new one.',
  },
  key_disabled: {
    status: 401,
    title: 'The key is disabled',
    detail: 'The tenant of this key is suspended. Ask the operator.',
  },
  key_scope: {
    status: 401,
    title: 'The key may not read this feed',
    detail: 'This key does not read this feed, or reads it for several tenants and the request names none.',
  },
  key_network: {
    status: 401,
    title: 'The key may not be used from here',
    detail:
      'This key may be used from certain networks only, and the request came from another one. Ask whoever gave you the key.',
  },
  missing_scope: {
    status: 403,
    title: 'The key lacks a scope',
    detail: 'This key lacks the scope that the operation needs.',
  },
  ambiguous_tenant: {
    status: 403,
    title: 'The key covers several tenants',
    detail: 'This key has that scope for several tenants. Name one in the header x-tenant, or as ?tenant=.',
  },
  branch_not_granted: {
    status: 403,
    title: 'The key may not publish for this branch',
    detail: 'This key publishes for certain branches only; see errors. Nothing was stored.',
  },
  scope_not_held: {
    status: 403,
    title: 'The key may not give this scope',
    detail: 'A key can give only what it may do itself.',
  },
  tenant_not_found: {
    status: 404,
    title: 'No such tenant',
    detail: 'There is no tenant with this id that this key may see.',
  },
  key_not_found: {
    status: 404,
    title: 'No such key',
    detail: 'There is no key with this id that this key may see.',
  },
  contact_not_found: {
    status: 404,
    title: 'No such contact',
    detail: 'This tenant has no event of a contact with this reference.',
  },
  event_not_found: { status: 404, title: 'No such event', detail: 'This feed has no event with this id.' },
  subject_not_found: {
    status: 404,
    title: 'No such subject',
    detail: 'This feed has no event of this property or contact.',
  },
  erasure_not_found: {
    status: 404,
    title: 'No such erasure',
    detail: 'There is no receipt with this id that this key may see.',
  },
  hold_not_found: {
    status: 404,
    title: 'No such hold',
    detail: 'There is no hold with this id that this key may see.',
  },
  restriction_not_found: {
    status: 404,
    title: 'No such restriction',
    detail: 'There is no restriction with this id that this key may see.',
  },
  deletion_not_found: {
    status: 404,
    title: 'No such deletion',
    detail: 'There is no certificate of a deletion with this id.',
  },
  path_not_found: { status: 404, title: 'No such path', detail: 'There is nothing at this path.' },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    detail: 'This path does not take this method; see the Allow header.',
  },
  not_acceptable: {
    status: 406,
    title: 'Not acceptable',
    detail: 'The Accept header refuses the only media type of this answer.',
  },
  request_timeout: {
    status: 408,
    title: 'The request came too slowly',
    detail: 'The request was not complete in time. Send it again, in smaller parts if need be.',
  },
  id_conflict: {
    status: 409,
    title: 'The event id is taken',
    detail: 'An event with this id and other content is stored already. Nothing was stored.',
  },
  unknown_subject: {
    status: 409,
    title: 'Nothing to remove',
    detail: 'The feed has no event of this subject, so there is nothing to remove. Nothing was stored.',
  },
  cursor_beyond_head: {
    status: 409,
    title: 'The number is beyond the end of the feed',
    detail:
      'The feed has no event with this number yet. The store was restored, or the number is from another feed: begin again with a snapshot.',
  },
  event_is_latest: {
    status: 409,
    title: 'The event is the latest of its subject',
    detail:
      'The event says how its property or contact is now, so it cannot be erased alone. Erase the property or the contact, or publish a newer event first.',
  },
  on_hold: {
    status: 409,
    title: 'The property or contact is on hold',
    detail:
      'It must be kept for now, so it cannot be erased. Wait until the hold has expired, or end it if it is no longer needed.',
  },
  tenant_exists: {
    status: 409,
    title: 'There is such a tenant already',
    detail: 'Another tenant has this id, name or reference.',
  },
  tenant_in_use: {
    status: 409,
    title: 'The tenant is in use',
    detail: 'A tenant is deleted when it is suspended or has left, and nothing of it is being erased.',
  },
  key_ended: {
    status: 409,
    title: 'The key has ended',
    detail: 'This key was revoked or has expired, so it cannot be changed any more. Make a new one.',
  },
  epoch_changed: {
    status: 409,
    title: 'The feed began a new epoch',
    detail: 'Numbers of the epoch you name cannot be continued: begin again with a snapshot.',
  },
  moment_expired: {
    status: 409,
    title: 'The moment of the list has passed',
    detail:
      'The pages of a list of current events are as of a moment that page 1 fixes for 10 minutes. This key has no such moment, or it has passed: begin again with page 1.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    detail: 'The body is larger than this service accepts. Send several smaller requests.',
  },
  target_too_long: {
    status: 414,
    title: 'The request target is too long',
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
    detail: 'Send the body without content encoding.',
  },
  expectation_failed: {
    status: 417,
    title: 'Expectation failed',
    detail: 'The only expectation this service meets is 100-continue.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    detail: 'This key has used up its requests for now; see Retry-After.',
  },
  too_many_at_once: {
    status: 429,
    title: 'Too many requests at once',
    detail:
      'This key has the most requests under way that it may have at the same time. Send the next one when one of them is answered.',
  },
  too_many_snapshots: {
    status: 429,
    title: 'Too many snapshots at once',
    detail:
      'This key is reading the most snapshots that it may read at the same time. Try again when one of them has ended.',
  },
  too_many_waiting: {
    status: 429,
    title: 'Too many requests wait for events',
    detail:
      'The most requests that may wait for events at the same time are already waiting, of this key or of all keys on this node. One for each category of a feed is enough.',
  },
  too_many_failures: {
    status: 429,
    title: 'Too many failed authentications',
    detail: 'Too many requests without a valid key came from this address; see Retry-After.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    detail: 'The request has too many headers, or they are too long together.',
  },
  ...consoleProblems,
  ...serviceProblems,
} as const satisfies Readonly<Record<string, ProblemKind>>

export type ProblemCode = keyof typeof problems
