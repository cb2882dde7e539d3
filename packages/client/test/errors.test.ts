/** The families of errors, and that `code` is what its type says. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { problems } from '@property-events/protocol/problems'
import * as client from '../src/index.ts'
import type { ErrorCode } from '../src/index.ts'

/** Which class a code is thrown as. Compiles only if it names every code, and no other. */
const classOfCode: { readonly [Code in ErrorCode]: keyof typeof client } = {
  invalid_parameter: 'InvalidRequestError',
  invalid_target: 'InvalidRequestError',
  invalid_host: 'InvalidRequestError',
  malformed_request: 'InvalidRequestError',
  invalid_body: 'InvalidRequestError',
  method_not_allowed: 'InvalidRequestError',
  not_acceptable: 'InvalidRequestError',
  body_too_large: 'InvalidRequestError',
  target_too_long: 'InvalidRequestError',
  unsupported_media_type: 'InvalidRequestError',
  unsupported_charset: 'InvalidRequestError',
  unsupported_content_encoding: 'InvalidRequestError',
  expectation_failed: 'InvalidRequestError',
  headers_too_large: 'InvalidRequestError',
  unsupported_http_version: 'InvalidRequestError',
  bad_request: 'InvalidRequestError',
  redirected: 'InvalidRequestError',
  unexpected_status: 'InvalidRequestError',
  webhook_address_refused: 'InvalidRequestError',
  unauthorized: 'AccessError',
  key_expired: 'AccessError',
  key_revoked: 'AccessError',
  key_disabled: 'AccessError',
  key_scope: 'AccessError',
  key_network: 'AccessError',
  missing_scope: 'AccessError',
  console_session_ended: 'AccessError',
  login_link_spent: 'AccessError',
  console_foreign_request: 'AccessError',
  console_needs_https: 'AccessError',
  console_needs_fresh_sign_in: 'AccessError',
  scope_not_held: 'AccessError',
  branch_not_granted: 'AccessError',
  ambiguous_tenant: 'AccessError',
  forbidden: 'AccessError',
  tenant_not_found: 'NotFoundError',
  key_not_found: 'NotFoundError',
  contact_not_found: 'NotFoundError',
  event_not_found: 'NotFoundError',
  subject_not_found: 'NotFoundError',
  erasure_not_found: 'NotFoundError',
  deletion_not_found: 'NotFoundError',
  hold_not_found: 'NotFoundError',
  restriction_not_found: 'NotFoundError',
  webhook_not_found: 'NotFoundError',
  path_not_found: 'NotFoundError',
  not_found: 'NotFoundError',
  webhook_limit: 'ConflictError',
  subject_waiting: 'ConflictError',
  tenant_exists: 'ConflictError',
  tenant_in_use: 'ConflictError',
  key_ended: 'ConflictError',
  id_conflict: 'ConflictError',
  unknown_subject: 'ConflictError',
  cursor_beyond_head: 'ConflictError',
  epoch_changed: 'ConflictError',
  event_is_latest: 'ConflictError',
  moment_expired: 'ConflictError',
  on_hold: 'ConflictError',
  conflict: 'ConflictError',
  unknown_conflict: 'ConflictError',
  request_timeout: 'UnavailableError',
  too_early: 'UnavailableError',
  rate_limited: 'UnavailableError',
  too_many_failures: 'UnavailableError',
  too_many_at_once: 'UnavailableError',
  too_many_snapshots: 'UnavailableError',
  too_many_waiting: 'UnavailableError',
  view_being_made: 'UnavailableError',
  internal_error: 'UnavailableError',
  storage_damaged: 'UnavailableError',
  storage_full: 'UnavailableError',
  storage_unavailable: 'UnavailableError',
  clock_behind: 'UnavailableError',
  overloaded: 'UnavailableError',
  epoch_required: 'UnavailableError',
  tenant_moving: 'UnavailableError',
  maintenance: 'UnavailableError',
  sequence_not_reached: 'UnavailableError',
  bad_gateway: 'UnavailableError',
  unavailable: 'UnavailableError',
  gateway_timeout: 'UnavailableError',
  network: 'NetworkError',
  deadline: 'NetworkError',
  unknown_host: 'NetworkError',
  certificate: 'NetworkError',
  tls: 'NetworkError',
  not_http: 'NetworkError',
  invalid_answer: 'InvalidAnswerError',
  aborted: 'AbortedError',
  invalid_option: 'InvalidOptionError',
  checkpoint: 'CheckpointError',
  mass_removal: 'MassRemovalError',
  invalid_webhook: 'InvalidWebhookError',
}

async function errorOf(status: number, body: string): Promise<client.ServiceError> {
  const feed = client.createClient({
    baseUrl: 'http://feed.example',
    key: 'k',
    retry: { attempts: 1 },
    fetch: async () => new Response(body, { status }),
  })
  const error: unknown = await feed.heads().then(undefined, (thrown: unknown) => thrown)
  assert.ok(error instanceof client.ServiceError, String(error))
  return error
}

describe('the errors of the client', () => {
  it('are few classes, each with codes of its own', () => {
    const classes = Object.keys(client).filter((name) => name.endsWith('Error'))
    assert.deepEqual(
      classes.filter((name) => !['PropertyEventsError', 'ServiceError'].includes(name)).toSorted(),
      [...new Set(Object.values(classOfCode))].toSorted(),
    )
    assert.equal(classes.length, 14)
  })

  it('have the code of the service, in the class of that code (PROTOCOL §7)', async () => {
    for (const [code, { status }] of Object.entries(problems)) {
      const error = await errorOf(status, JSON.stringify({ code, detail: 'Because.' }))
      assert.deepEqual(
        [error.code, error.serviceCode, error.status, error.detail],
        [code, code, status, 'Because.'],
      )
      assert.equal(error.name, new Map(Object.entries(classOfCode)).get(code))
    }
  })

  it('have a code for the status of an answer without one, or with one that this version does not know', async () => {
    for (const [status, code] of [
      [400, 'bad_request'],
      [401, 'unauthorized'],
      [403, 'forbidden'],
      [404, 'not_found'],
      [409, 'conflict'],
      [418, 'unexpected_status'],
      [425, 'too_early'],
      [429, 'rate_limited'],
      [500, 'internal_error'],
      [501, 'unexpected_status'],
      [502, 'bad_gateway'],
      [503, 'unavailable'],
      [504, 'gateway_timeout'],
    ] as const) {
      const plain = await errorOf(status, '<html>')
      assert.deepEqual([plain.code, plain.serviceCode, plain.detail], [code, undefined, undefined])
      assert.equal(plain.name, classOfCode[code])
      const newer = await errorOf(status, '{"code":"of_tomorrow"}')
      const expected = status === 409 ? 'unknown_conflict' : code
      assert.deepEqual(
        [newer.code, newer.serviceCode, newer.name],
        [expected, 'of_tomorrow', classOfCode[code]],
      )
    }
  })

  it('never take a code of the client itself from a service’s answer', async () => {
    const error = await errorOf(503, '{"code":"mass_removal"}')
    assert.deepEqual([error.code, error.name], ['unavailable', 'UnavailableError'])
    assert.equal((await errorOf(503, '{"code":"constructor"}')).code, 'unavailable')
  })

  it('say whether a retry can help', async () => {
    const again = async (status: number, code?: string) =>
      (await errorOf(status, JSON.stringify({ code }))).again
    assert.deepEqual(
      [
        await again(503, 'overloaded'),
        await again(503, 'epoch_required'),
        await again(401, 'key_expired'),
        await again(502),
        await again(409),
        await again(409, 'of_tomorrow'),
      ],
      ['later', 'operator', 'never', 'later', 'later', 'never'],
    )
  })
})
