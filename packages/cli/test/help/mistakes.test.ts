/**
 * Sixty mistakes that people make, and what they are told: each answer says what was sent, what is allowed and what to do. They stand in
 * mistakes.txt, to be read as a stranger; UPDATE=1 writes it anew.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { NetworkError } from '@property-events/client'
import { call, getPath, listPath } from '../../../server/test/support/http-client.ts'
import type { Call } from '../../../server/test/support/http-client.ts'
import { property } from '../../../server/test/support/property.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { errorMessage } from '../../src/error-message.ts'
import { removeFolder, run, temporaryFolder } from '../support/program.ts'

const snapshotFile = new URL('./mistakes.txt', import.meta.url)
const list = listPath
const byId = getPath
const publishing = '/v1/property-events'
const contacts = '/v1/contact-events'
const id = '0194b3e0-0000-7000-8000-00000000aaaa'
const json = { 'content-type': 'application/json' }

/** `key`: `read`, `publish`, or a text. */
type Mistake = readonly [said: string, path: string, request?: Call]

const post = (body: string, headers: Readonly<Record<string, string>> = json): Call => ({
  method: 'POST',
  key: 'publish',
  headers,
  body,
})
const house = JSON.stringify(property({ agent_ref: id }))
const withId = `{"id":"${id}","payload":${house}}`
/** Whole, and nobody's. */
const someKey = 'pev_SomebodysKey_ABCDEFGHIJKLMNOPQRSTUVWX0hgl4O'

const mistakes: readonly Mistake[] = [
  ['no key', list],
  ['a key in Authorization', list, { headers: { authorization: 'Bearer pev_x' } }],
  ['a key in the query', `${list}?api_key=pev_x`],
  ['a key in a cookie', list, { headers: { cookie: 'key=pev_x' } }],
  ['half a key', list, { key: 'pev_La74n6cBwVE0' }],
  ['a word for a key', list, { key: 'secret' }],
  ['a key with Bearer before it', list, { key: `Bearer ${someKey}` }],
  ['a key in quotation marks', list, { key: `"${someKey}"` }],
  ['a key of another service', list, { key: someKey }],
  ['a key that publishes, for reading', list, { key: 'publish' }],
  ['a key that reads, for publishing', publishing, { ...post(house), key: 'read' }],
  ['a page before the first', `${list}?page=0`, { key: 'read' }],
  ['a page that is a word', `${list}?page=first`, { key: 'read' }],
  ['a page that is too large', `${list}?pageSize=5000`, { key: 'read' }],
  ['a type that is none', `${list}?apiEventType=houses`, { key: 'read' }],
  ['a date of another country', `${list}?from=31/01/2025`, { key: 'read' }],
  ['a date that does not exist', `${list}?from=2025-02-30`, { key: 'read' }],
  ['seconds since 1970', `${list}?from=1700000000`, { key: 'read' }],
  ['a window that ends before it begins', `${list}?from=2025-02-01&to=2025-01-01`, { key: 'read' }],
  ['a parameter twice', `${list}?page=1&page=2`, { key: 'read' }],
  ['a broken percent sign', `${list}?from=%zz`, { key: 'read' }],
  ['an id that is none', `${byId}/12345`, { key: 'read' }],
  ['an id that nobody has', `${byId}/${id}`, { key: 'read' }],
  ['no id', `${byId}/`, { key: 'read' }],
  ['a slash too many', `${list}/`, { key: 'read' }],
  ['a letter too few in a path', list.slice(0, -1), { key: 'read' }],
  ['a path of ours, misspelt', '/v1/propertyevents', { key: 'read' }],
  ['a path of another service', '/graphql', { key: 'read' }],
  ['a path with a broken percent sign', '/v1/%zz', { key: 'read' }],
  ['an unknown parameter of ours', `${publishing}?afer=1`, { key: 'read' }],
  ['DELETE of a property', `/v1/properties/${id}`, { key: 'publish', method: 'DELETE' }],
  [
    'PUT of a property',
    `/v1/properties/${id}`,
    { key: 'publish', method: 'PUT', headers: json, body: house },
  ],
  ['POST to the list', list, { ...post(house) }],
  ['PATCH of what is published', publishing, { ...post(house), method: 'PATCH' }],
  ['DELETE of a contact', `/v1/contacts/${id}`, { key: 'publish', method: 'DELETE' }],
  ['a property that nobody has', `/v1/properties/${id}`, { key: 'read' }],
  ['a property by a reference that is none', '/v1/properties/REF-1', { key: 'read' }],
  ['a number beyond the feed', `${publishing}?after=99`, { key: 'read' }],
  ['XML wanted', '/v1/heads', { key: 'read', headers: { accept: 'application/xml' } }],
  ['XML sent', publishing, post('<property/>', { 'content-type': 'application/xml' })],
  ['a form sent', publishing, post('agent_ref=1', { 'content-type': 'application/x-www-form-urlencoded' })],
  ['text that is no JSON', publishing, post('agent_ref: 1', {})],
  ['Latin-1 announced', publishing, post(house, { 'content-type': 'application/json; charset=iso-8859-1' })],
  ['Latin-1 sent', publishing, { ...post(''), body: Buffer.from('{"payload":{"a":"\xe9"}}', 'latin1') }],
  ['a byte order mark', publishing, post(`\ufeff${house}`)],
  ['deflate', publishing, post(house, { ...json, 'content-encoding': 'deflate' })],
  ['gzip announced, not sent', publishing, post(house, { ...json, 'content-encoding': 'gzip' })],
  ['an empty body', publishing, post('')],
  ['an empty list', publishing, post('[]')],
  ['a comma too many', publishing, post('{\n  "payload": {\n    "price": 10,,\n    "x": 1\n  }\n}')],
  ['a body cut off', publishing, post('{"payload": {"agent_ref": "a"')],
  ['single quotes', publishing, post("{'payload': {}}")],
  ['a payload by itself', publishing, post(house)],
  ['an event by itself in a list', publishing, post(`[{"payload":${house}},${house}]`)],
  ['a payload that is a list', publishing, post('{"payload":[]}')],
  ['a payload without agent_ref', publishing, post('{"payload":{"published":true}}')],
  [
    'an agent_ref of the agency’s own',
    publishing,
    post('{"payload":{"agent_ref":"REF-1","published":true}}'),
  ],
  ['a member misspelt', publishing, post('{"paylod":{}}')],
  ['an event type that is none', publishing, post(`{"payload":${house},"eventType":"Sold"}`)],
  ['two mistakes at once', publishing, post('{"payload":{"agent_ref":1,"published":"yes"}}')],
  ['the same id twice', publishing, post(`[${withId},${withId}]`)],
  ['a payload that is too large', publishing, post(`{"payload":{"note":"${'x'.repeat(262_144)}"}}`)],
  ['events without end', publishing, post(`[${'{},'.repeat(1_000)}{}]`)],
  ['a body that is too large', publishing, post(' '.repeat(16 * 2 ** 20 + 1))],
  [
    'a body that is too large once it is no gzip any more',
    publishing,
    {
      ...post(''),
      headers: { ...json, 'content-encoding': 'gzip' },
      body: gzipSync(Buffer.alloc(17 * 2 ** 20)),
    },
  ],
  ['bad JSON of a contact, of whom nothing is repeated', contacts, post('{"payload": {"forename": Jane}}')],
  [
    'a contact published as a property',
    publishing,
    post('{"payload":{"contact_ref":"REF-1","forename":"Jane"}}'),
  ],
  ['removal of what was never published', publishing, post(`{"remove":{"agentRef":"${id}"}}`)],
  ['lines announced as one', publishing, post(`{"payload":${house}}\n{"payload":${house}}`)],
]

const commands: readonly (readonly [said: string, args: readonly string[]])[] = [
  ['no command', []],
  ['a command misspelt', ['publsh']],
  ['a flag misspelt', ['serve', '--prot', '80']],
  ['a command of another name, in a group', ['properties', 'show', 'x']],
  ['a day in words', ['exposure', '--key', 'x', '--from', 'yesterday', '--data', '.']],
  ['a port that is none', ['serve', '--port', 'eighty']],
  ['a file that is not there', ['publish', 'houses.json', '--url', 'http://127.0.0.1:1', '--key', 'pev_x']],
  ['a store that is not there', ['tenants', 'list', '--data', 'nowhere']],
  ['a service without http', ['sync', 'copy', '--url', '127.0.0.1:8080', '--key', someKey]],
  ['no key', ['sync', 'copy']],
  ['a rate that is none', ['serve', '--rate-limit', '50']],
  ['a database that is none', ['serve', '--database', 'localhost:5432/feeds']],
  ['bytes with a unit', ['serve', '--page-memory-bytes', '64MB']],
]

describe('mistakes', () => {
  let service: TestService
  const folder = temporaryFolder()
  before(async () => {
    service = await startTestService()
  })
  after(async () => {
    await service.stop()
    removeFolder(folder)
  })

  it('are answered with what was sent, what is allowed and what to do (D6, D7)', async () => {
    assert.ok(mistakes.length + commands.length >= 60)
    const lines: string[] = []
    for (const [said, path, request = {}] of mistakes) {
      const { readKey, publishKey } = service.tenant
      const key = request.key === 'read' ? readKey : request.key === 'publish' ? publishKey : request.key
      const answer = await call(service, path, { ...request, key })
      assert.ok(answer.status >= 400, said)
      const { code, detail }: { readonly code: string; readonly detail: string } = JSON.parse(answer.text)
      lines.push(`${said}\n  ${answer.status} ${code}\n  ${detail}\n`)
    }
    for (const [said, args] of commands) {
      const { code, stderr } = await run(args, { cwd: folder })
      assert.notEqual(code, 0, said)
      const shown = stderr
        .trimEnd()
        .replaceAll(folder, '…')
        .replaceAll(/[^\s`']*\/property-events\.mjs/g, 'property-events')
        .replaceAll('\n', '\n  ')
      lines.push(`$ property-events ${args.join(' ')}    (${said})\n  ${shown}\n`)
    }
    const text = lines.join('\n')
    if (process.env['UPDATE'] === '1') writeFileSync(snapshotFile, text)
    assert.equal(text, readFileSync(snapshotFile, 'utf8'))
  })

  it('are not the only thing that goes wrong: a service that does not answer is said to be away (D6)', () => {
    const error = new NetworkError(
      'network',
      'GET /v1/heads: fetch failed: connect ECONNREFUSED 127.0.0.1:8080',
    )
    assert.equal(
      errorMessage(error),
      `${error.message}. Is the service running, and is PROPERTY_EVENTS_URL or --url right?`,
    )
  })

  it('that are none are taken: gzip, text, lines by their other names, and HTTP/1.0 (D9)', async () => {
    const body = (): string => JSON.stringify({ payload: property() })
    const taken: readonly (readonly [Readonly<Record<string, string>>, string | Uint8Array])[] = [
      [{}, body()],
      [{ 'content-type': 'text/plain;charset=UTF-8' }, `[${body()}]`],
      [{ 'content-type': 'text/json' }, body()],
      [{ 'content-type': 'application/ndjson' }, `${body()}\n${body()}\n`],
      [{ 'content-type': 'application/jsonl' }, `${body()}\n`],
      [{ ...json, 'content-encoding': 'gzip' }, gzipSync(body())],
      [{ 'content-encoding': 'gzip' }, gzipSync(`  ${body()}`)],
    ]
    for (const [headers, sent] of taken) {
      const { status, text } = await call(service, publishing, {
        method: 'POST',
        key: service.tenant.publishKey,
        headers,
        body: sent,
      })
      assert.equal(status, 201, `${JSON.stringify(headers)}: ${text}`)
    }
  })
})
