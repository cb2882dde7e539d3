/** What to do about each problem. A new code gets its line here, or the types do not check and no page is made. */
import type { ProblemCode } from '../../packages/protocol/src/problems.ts'

export const remedies: Readonly<Record<ProblemCode, string>> = {
  invalid_parameter:
    'Change what `errors` names: each entry has the parameter, the value that was sent and the values allowed.',
  invalid_target: 'Send a plain path and query, percent-encoded, without a fragment.',
  invalid_host: 'Send one Host header with a host name. HTTP libraries do so by themselves; check the proxy.',
  malformed_request: 'Use an HTTP library, and check what is between it and the service.',
  invalid_body:
    'Change what `errors` points at and send the request again. A dry run (`dryRun=true`) shows the same faults.',
  webhook_address_refused:
    'Give an https address on port 443 or from 1024 that leads to public addresses only, without user name or redirect.',
  webhook_not_found:
    'Check the id of the webhook. Webhooks of other agencies, and those that read more than the key, are not found either.',
  webhook_limit: 'Delete a webhook that is no longer needed; `GET /v1/webhooks` lists them.',
  subject_waiting:
    'Wait until it has been acknowledged or given up: `GET /v1/webhooks/{webhookId}/waiting` shows when it is tried next. Later events follow by themselves.',
  unauthorized:
    'Send the whole key in the header `x-api-key`, without quotes, blanks or `Bearer`. If it is right, ask the operator for a new one.',
  key_expired: 'Ask the operator for a new key, or to extend this one.',
  key_revoked: 'Ask the operator for a new key.',
  key_disabled: 'Ask the operator: the agency is suspended.',
  key_scope:
    'Ask the operator for a key that reads this feed. With a key of several agencies, name one of them in the header `x-tenant`.',
  console_session_ended: 'Sign in to the console again, with a key or a new link.',
  login_link_spent:
    'Run `property-events console` where the service runs, and open its link within 10 minutes.',
  console_foreign_request:
    'Use the page of the console. Other programs send a key in the header `x-api-key`, to the same path without `/console/api`. Behind a proxy, check `serve --url`.',
  console_needs_https:
    'Open the console over https, or over http on the machine itself. If a proxy provides https, start the service with `--url https://…`.',
  console_needs_fresh_sign_in: 'Sign in to the console again, then repeat what you did.',
  missing_scope: 'Use a key with the scope that the operation names, or ask the operator for one.',
  ambiguous_tenant: 'Name the agency in the header `x-tenant`, or as `?tenant=`.',
  key_network: 'Send the request from a network that the key allows, or ask the operator for another key.',
  scope_not_held:
    'Use a key that has these scopes itself, or ask the operator: a key can grant only scopes that it holds.',
  branch_not_granted:
    'Publish for the branches that the key was granted (`GET /v1/admin/self` names them), or use a key of the whole agency.',
  view_being_made:
    'Wait for the time in `Retry-After`: the view of the branches of a new key is being prepared, once. Publishing continues meanwhile.',
  tenant_not_found: 'Check the id of the tenant. Tenants that the key cannot see are not found either.',
  key_not_found:
    'Check the id of the key, the part after `pev_`. Keys of other tenants, and operator keys, are not found either.',
  contact_not_found: 'Check the reference (the `contact_ref` of the payload) and the tenant.',
  tenant_in_use:
    'Suspend the tenant, or have it leave, and wait until nothing of it is being erased. Then delete it.',
  tenant_exists: 'Choose another name or reference, or use the tenant that has it.',
  key_ended: 'Create a new key: a key that was revoked or has expired cannot be changed.',
  event_not_found:
    'Check the id and the feed: property and contact events have separate ids. Events of other agencies are not found either.',
  subject_not_found:
    'Check the reference: it is the `agent_ref` or `contact_ref` of the payload. The feed has no event of it yet.',
  erasure_not_found:
    'Check the id in the receipt. Receipts of other agencies, and of feeds that the key cannot erase, are not found either.',
  hold_not_found:
    'Check the id of the hold. Holds of other agencies, and of feeds that the key cannot erase, are not found either.',
  deletion_not_found: 'Check the id in the certificate. `GET /v1/admin/deletions` lists them all.',
  path_not_found: 'Check the path and its prefix. The detail names the path that was probably meant.',
  method_not_allowed: 'Use a method that the header `Allow` names.',
  not_acceptable: 'Leave `Accept` out, or allow the media type of this answer.',
  request_timeout:
    'Send it again, in smaller requests if the line is slow. Give events ids of your own first, and none is stored twice.',
  id_conflict:
    'Give the new content an id of its own. An id belongs for ever to the first content that was sent with it.',
  unknown_subject: 'Check `agentRef`. A property that was never published needs no removal.',
  restriction_not_found:
    'Check the id of the restriction. Restrictions of other agencies are not found either.',
  on_hold:
    'Wait until the hold has expired, or end it if it is no longer needed. Then send the request again.',
  cursor_beyond_head:
    'Start again with a snapshot. Each copy keeps its own checkpoint, for one feed of one service.',
  event_is_latest: 'Erase the property or contact as a whole, or publish a newer event of it first.',
  moment_expired: 'Start again with page 1, and request the pages after it within 10 minutes.',
  epoch_changed: 'Start again with a snapshot, and keep its epoch with the checkpoint.',
  body_too_large: 'Send fewer events in each request.',
  target_too_long: 'Shorten the query.',
  unsupported_media_type:
    'Send `content-type: application/json`, or `application/x-ndjson` for one event a line.',
  unsupported_charset: 'Send UTF-8.',
  unsupported_content_encoding: 'Send the body plain or with gzip.',
  expectation_failed: 'Leave the header `Expect` out, or send `100-continue`.',
  rate_limited:
    'Wait for the time in `Retry-After`. Request larger pages, and send `If-None-Match`: a 304 is not counted.',
  too_many_at_once: 'Wait for answers before sending more, and wait for the time in `Retry-After`.',
  too_many_snapshots:
    'Let one of the snapshots being read end first. For what is new, read the events after a number.',
  too_many_waiting:
    'Wait with one request for each category of a feed, and close those that nobody reads any more.',
  too_many_failures:
    'Wait for the time in `Retry-After`, and correct the key. A valid key is never refused for this.',
  headers_too_large: 'Send fewer or shorter headers; cookies are never needed.',
  internal_error: 'Send it again later. If it fails again, give the operator the `requestId`.',
  storage_damaged: 'Tell the operator, with the `requestId`: the store has to be restored.',
  storage_full:
    'Wait for the time in `Retry-After`, then send the same request again. The operator has to free space.',
  storage_unavailable:
    'Wait for the time in `Retry-After`, then send the same events again with the same ids: the first try may have been stored.',
  clock_behind: 'Wait for the time in `Retry-After`, or ask the operator.',
  overloaded:
    'Wait for the time in `Retry-After`, then send the same request again. Read answers to their end.',
  epoch_required: 'Wait until the operator starts a new epoch. Reading continues.',
  tenant_moving: 'Wait for the time in `Retry-After`, then send the same request again, to the same address.',
  maintenance: 'Wait for the time in `Retry-After`, then send the same request again. Reading continues.',
  sequence_not_reached: 'Try again, or leave out `x-feed-min-sequence` to read what is there now.',
  unsupported_http_version: 'Use HTTP/1.1, also in the proxy.',
}
