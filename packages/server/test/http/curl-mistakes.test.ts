/**
 * Mistakes that people make with curl in their first hour, each by curl itself. A stranger mends each one by its answer alone: `says` is
 * what was sent, what is allowed and what to do.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { publish } from '../support/http-client.ts'
import { property } from '../support/property.ts'
import { makeStoreFolder } from '../support/temporary-store.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'

const run = promisify(execFile)

/** A machine with git and Node alone has no curl. */
const withCurl = spawnSync('curl', ['--version']).status === 0 ? {} : { skip: 'this machine has no curl' }

const id = '0194b3e0-0000-7000-8000-00000000aaaa'
const list = '/api/func/api/v1/events/getevents'
const byId = '/api/func/api/v1/events/geteventbyid'
const properties = '/v1/property-events'
const contacts = '/v1/contact-events'

interface Mistake {
  /** Options of curl; `READ` and `PUBLISH` stand for whole keys. */
  readonly curl: readonly string[]
  readonly path: string
  readonly is: string
  readonly says: readonly RegExp[]
}

const reading = ['-H', 'x-api-key: READ']
const publishing = ['-H', 'x-api-key: PUBLISH', '-H', 'content-type: application/json']
const json = (body: string): readonly string[] => [...publishing, '-d', body]
const payload = (members: string): readonly string[] =>
  json(`{"payload":{"agent_ref":"${id}","published":true,${members}}}`)

const keyMistakes: Readonly<Record<string, Mistake>> = {
  'no key': { curl: [], path: list, is: '401 unauthorized', says: [/has no key/, /x-api-key/] },
  'a variable without a value': {
    curl: ['-H', 'x-api-key: '],
    path: list,
    is: '401 unauthorized',
    says: [/has no key/, /check that it is set/],
  },
  'a bearer token': {
    curl: ['-H', 'Authorization: Bearer READ'],
    path: list,
    is: '401 unauthorized',
    says: [/Authorization/, /belongs in x-api-key/],
  },
  'the key as a user name': {
    curl: ['-u', 'READ:'],
    path: list,
    is: '401 unauthorized',
    says: [/Authorization/, /belongs in x-api-key/],
  },
  'the key in a header of another name': {
    curl: ['-H', 'apikey: READ'],
    path: list,
    is: '401 unauthorized',
    says: [/header apikey is not read/, /belongs in x-api-key/],
  },
  'the key in the query': {
    curl: [],
    path: `${list}?api_key=READ`,
    is: '401 unauthorized',
    says: [/a key in its address is not read/, /belongs in x-api-key/],
  },
  'the key with quotation marks': {
    curl: ['-H', 'x-api-key: "READ"'],
    path: list,
    is: '401 unauthorized',
    says: [/quotation marks/, /from pev_ to its end/],
  },
  'the key without its end': {
    curl: ['-H', 'x-api-key: pev_La74n6cBwVE0'],
    path: list,
    is: '401 unauthorized',
    says: [/not a whole key/, /Copy the key again/],
  },
  'the key that publishes, to read': {
    curl: ['-H', 'x-api-key: PUBLISH'],
    path: list,
    is: '401 key_scope',
    says: [/scope property:read; this key has property:publish, contact:publish/, /Ask the operator/],
  },
  'the key that reads, to publish': {
    curl: ['-H', 'x-api-key: READ', '-H', 'content-type: application/json', '-d', '{}'],
    path: properties,
    is: '403 missing_scope',
    says: [/scope property:publish; this key has property:read, contact:read/, /Ask the operator/],
  },
}

const addressMistakes: Readonly<Record<string, Mistake>> = {
  'a slash at the end': {
    curl: reading,
    path: `${properties}/`,
    is: '404 path_not_found',
    says: [/Leave out the slash at its end/],
  },
  'two slashes at the beginning': {
    curl: reading,
    path: `/${properties}`,
    is: '404 path_not_found',
    says: [/Did you mean \/v1\/property-events\?/],
  },
  'a path misspelt': {
    curl: reading,
    path: '/v1/propertyevents',
    is: '404 path_not_found',
    says: [/Did you mean \/v1\/property-events\?/, /\/docs/],
  },
  'a path as other services have it': {
    curl: reading,
    path: '/v1/events',
    is: '404 path_not_found',
    says: [/GET \/v1\/property-events/, /\/docs/],
  },
  'all properties, where one is read': {
    curl: reading,
    path: '/v1/properties',
    is: '404 path_not_found',
    says: [/\/v1\/properties\/\{subjectId\}/, /\/v1\/property-events\/snapshot/],
  },
  'a method that writes, to the list': {
    curl: json('{}'),
    path: list,
    is: '405 method_not_allowed',
    says: [/"POST"/, /accepts GET/, /POST \/v1\/property-events/],
  },
  'DELETE of a property': {
    curl: ['-X', 'DELETE', '-H', 'x-api-key: PUBLISH'],
    path: `/v1/properties/${id}`,
    is: '405 method_not_allowed',
    says: [/"DELETE"/, /accepts GET/, /\{"remove": \{"agentRef": "…"\}\}/],
  },
  'PUT of an event': {
    curl: ['-X', 'PUT', ...json('{}')],
    path: properties,
    is: '405 method_not_allowed',
    says: [/"PUT"/, /accepts GET, HEAD, POST/],
  },
  'the reference of a property as the id of an event': {
    curl: reading,
    path: `${byId}/KNOWN`,
    is: '404 event_not_found',
    says: [/no event with this id/, /GET \/v1\/properties\/\{agent_ref\}/],
  },
  'an id in braces': {
    curl: reading,
    path: `${byId}/%7B${id}%7D`,
    is: '400 invalid_parameter',
    says: [/"\{0194b3e0/, /without braces/, /nothing around them/],
  },
  'an id without hyphens': {
    curl: reading,
    path: `${byId}/${id.replaceAll('-', '')}`,
    is: '400 invalid_parameter',
    says: [/"0194b3e0/, /write them with hyphens, as in 0d4b6a1e-58c5-/],
  },
  'a reference without hyphens': {
    curl: reading,
    path: `/v1/properties/${id.replaceAll('-', '')}`,
    is: '400 invalid_parameter',
    says: [/write them with hyphens/, /^(?!.*your own reference)/],
  },
  'a reference that the feed does not have': {
    curl: reading,
    path: `/v1/properties/${id}`,
    is: '404 subject_not_found',
    says: [
      /no event of this property/,
      /agent_ref/,
      /not the id of an event/,
      /\/v1\/property-events\/snapshot/,
    ],
  },
  'a reference as a parameter': {
    curl: reading,
    path: `${properties}?agent_ref=${id}`,
    is: '400 invalid_parameter',
    says: [/^agent_ref: Not a parameter/, /GET \/v1\/properties\/\{agent_ref\}/],
  },
  'the list without func in its path': {
    curl: reading,
    path: '/api/v1/events/getevents?page=1',
    is: '404 path_not_found',
    says: [/Did you mean \/api\/func\/api\/v1\/events\/getevents\?/],
  },
  'an event without func in its path': {
    curl: reading,
    path: `/v1/contactevents/GetEventById/${id}`,
    is: '404 path_not_found',
    says: [/Did you mean \/api\/func\/api\/v1\/contactevents\/geteventbyid\/\{eventId\}\?/],
  },
  'the events of a property': {
    curl: reading,
    path: `/v1/properties/${id}/events`,
    is: '404 path_not_found',
    says: [/Did you mean \/v1\/properties\/\{subjectId\}\/history\?/],
  },
  'an acknowledgement in the feed': {
    curl: ['-X', 'POST', ...reading],
    path: `${contacts}/acknowledge`,
    is: '404 path_not_found',
    says: [/Did you mean \/v1\/contact-consumers\/\{name\}\/acknowledged\?/],
  },
  'metrics on the port of the feed': {
    curl: [],
    path: '/metrics',
    is: '404 path_not_found',
    says: [/port of their own/, /--metrics-port/],
  },
  'health on the port of the feed': {
    curl: [],
    path: '/health',
    is: '404 path_not_found',
    says: [/\/livez, \/readyz/, /port of their own/],
  },
  Swagger: {
    curl: [],
    path: '/swagger/index.html',
    is: '404 path_not_found',
    says: [/OpenAPI/, /\/docs and \/openapi\.json/],
  },
  GraphQL: {
    curl: json('{"query":"{ properties }"}'),
    path: '/graphql',
    is: '404 path_not_found',
    says: [/no GraphQL/, /\/docs and \/openapi\.json/],
  },
  'the administration for people': {
    curl: [],
    path: '/admin',
    is: '404 path_not_found',
    says: [/\/console\//, /\/v1\/admin/],
  },
  'the tenant of another agency': {
    curl: [...reading, '-H', `x-tenant: ${id}`],
    path: properties,
    is: '403 missing_scope',
    says: [/no scope for the tenant that x-tenant/, /Leave it out/],
  },
  'the tenant of another agency, to the contract’s list': {
    curl: [...reading, '-H', `x-tenant: ${id}`],
    path: list,
    is: '401 key_scope',
    says: [/no scope for the tenant that x-tenant/, /Leave it out/],
  },
  'page 0': {
    curl: reading,
    path: `${list}?page=0`,
    is: '400 invalid_parameter',
    says: [/^page: "0"/, /from 1 to/],
  },
  'a page that is too large': {
    curl: reading,
    path: `${list}?pageSize=5000`,
    is: '400 invalid_parameter',
    says: [/^pageSize: "5000"/, /from 1 to 1000/],
  },
  'a limit in words': {
    curl: reading,
    path: `${properties}?after=0&limit=all`,
    is: '400 invalid_parameter',
    says: [/^limit: "all"/, /from 1 to/],
  },
  'a day of the calendar of the UK': {
    curl: reading,
    path: `${list}?from=31/01/2025`,
    is: '400 invalid_parameter',
    says: [/"31\/01\/2025"/, /YYYY-MM-DD/],
  },
  'seconds since 1970': {
    curl: reading,
    path: `${list}?from=1735689600`,
    is: '400 invalid_parameter',
    says: [/"1735689600"/, /YYYY-MM-DD/, /Unix times are not read/],
  },
  'a category as the type': {
    curl: reading,
    path: `${list}?apiEventType=sales`,
    is: '400 invalid_parameter',
    says: [/"sales"/, /allowed: property, salesproperty, lettingsproperty/, /Did you mean salesproperty\?/],
  },
  'a rental as the type': {
    curl: reading,
    path: `${list}?apiEventType=rental`,
    is: '400 invalid_parameter',
    says: [/"rental"/, /Did you mean lettingsproperty\?/],
  },
  'parameters by -d, which posts them': {
    curl: ['-H', 'x-api-key: READ', '-d', 'page=1'],
    path: list,
    is: '405 method_not_allowed',
    says: [/"POST"/, /accepts GET/, /add -G/],
  },
  'an event without its id': {
    curl: reading,
    path: byId,
    is: '404 path_not_found',
    says: [/Did you mean \/api\/func\/api\/v1\/events\/geteventbyid\/\{id\}\?/],
  },
  'contacts in the list of properties': {
    curl: reading,
    path: `${list}?apiEventType=contact`,
    is: '400 invalid_parameter',
    says: [/"contact"/, /GET \/api\/func\/api\/v1\/contactevents\/getevents/],
  },
  'the name of a tenant for its id': {
    curl: [...reading, '-H', 'x-tenant: Hill'],
    path: properties,
    is: '400 invalid_parameter',
    says: [/^x-tenant: "Hill"/, /UUID/, /leave it out/],
  },
  'a key of an agency for the administration': {
    curl: reading,
    path: '/v1/admin/tenants',
    is: '403 missing_scope',
    says: [/admin:inspect/, /this key has property:read, contact:read/, /Ask the operator/],
  },
  'a parameter of another service': {
    curl: reading,
    path: `${properties}?since=2025-01-01`,
    is: '400 invalid_parameter',
    says: [/^since: Not a parameter/, /Allowed: after, limit/],
  },
}

const bodyMistakes: Readonly<Record<string, Mistake>> = {
  'no body': {
    curl: ['-X', 'POST', '-H', 'x-api-key: PUBLISH'],
    path: properties,
    is: '400 invalid_body',
    says: [/The body is empty/, /\{"payload": \{…\}\}/],
  },
  '-d without a content type': {
    curl: ['-H', 'x-api-key: PUBLISH', '-d', '{"payload":{}}'],
    path: properties,
    is: '415 unsupported_media_type',
    says: [/"application\/x-www-form-urlencoded", which curl -d sends/, /content-type: application\/json/],
  },
  'a file as a form': {
    curl: ['-H', 'x-api-key: PUBLISH', '-F', 'file={}'],
    path: properties,
    is: '415 unsupported_media_type',
    says: [/"multipart\/form-data"/, /content-type: application\/json/],
  },
  'single quotes inside': {
    curl: json("{'payload': {}}"),
    path: properties,
    is: '400 invalid_body',
    says: [/Invalid JSON at line 1, column 2, near/, /double quotes/],
  },
  'single quotes around, as Windows sends them': {
    curl: json("'{payload:{}}'"),
    path: properties,
    is: '400 invalid_body',
    says: [/Invalid JSON at line 1, column 1/, /On Windows, put it in double quotes/],
  },
  'names without quotes': {
    curl: json('{payload: {}}'),
    path: properties,
    is: '400 invalid_body',
    says: [/line 1, column 2/, /in double quotes/],
  },
  'a comma too many': {
    curl: json('{"payload": {"price": 1,}}'),
    path: properties,
    is: '400 invalid_body',
    says: [/line 1, column 25/, /Remove the comma before it/],
  },
  'lines whose breaks -d has removed': {
    curl: [
      '-H',
      'x-api-key: PUBLISH',
      '-H',
      'content-type: application/x-ndjson',
      '-d',
      '{"payload":{}}{"payload":{}}',
    ],
    path: properties,
    is: '400 invalid_body',
    says: [/line 1, column 15/, /each event on a line of its own/, /--data-binary/],
  },
  'Latin-1': {
    curl: ['-H', 'x-api-key: PUBLISH', '-H', 'content-type: application/json', '--data-binary', '@LATIN'],
    path: properties,
    is: '400 invalid_body',
    says: [/not UTF-8/, /0xA3 at line 1, column 21/, /Save or convert it as UTF-8/],
  },
  'a payload alone': {
    curl: json(`{"agent_ref":"${id}","published":true}`),
    path: properties,
    is: '400 invalid_body',
    says: [/a payload alone/, /in a member named payload: \{"payload": \{"agent_ref": …\}\}/],
  },
  'a payload alone, in camel case': {
    curl: json(`{"agentRef":"${id}","published":true}`),
    path: properties,
    is: '400 invalid_body',
    says: [/a payload alone/, /\{"payload": \{"agent_ref": …\}\}/],
  },
  'a member in camel case': {
    curl: json(`{"payload":{"agentRef":"${id}","published":true}}`),
    path: properties,
    is: '400 invalid_body',
    says: [/"agentRef" was sent: did you mean agent_ref\?/],
  },
  'a reference of one’s own': {
    curl: json('{"payload":{"agent_ref":"4711","published":true}}'),
    path: properties,
    is: '400 invalid_body',
    says: [/"4711" was sent/, /must be a UUID/, /property-events reference/],
  },
  'a label for a code': {
    curl: payload('"status":"For Sale"'),
    path: properties,
    is: '400 invalid_body',
    says: [/"For Sale" was sent/, /Send 1, the code of "Available"/, /2 SSTC/],
  },
  'a price in text': {
    curl: payload('"price_information":{"price":"£450,000"}'),
    path: properties,
    is: '400 invalid_body',
    says: [/"£450,000" was sent/, /must be a number or null/, /Send 450000, without quotes/],
  },
  'yes for true': {
    curl: json(`{"payload":{"agent_ref":"${id}","published":"yes"}}`),
    path: properties,
    is: '400 invalid_body',
    says: [/"yes" was sent/, /must be true, false or null/, /Send true, without quotes/],
  },
  'one text for a list': {
    curl: payload('"details":{"features":"Gardd"}'),
    path: properties,
    is: '400 invalid_body',
    says: [/"Gardd" was sent/, /must be an array or null/, /\["Gardd"\]/],
  },
  'a path for the address of a photograph': {
    curl: payload('"media":[{"media_type":1,"media_url":"/1.jpg"}]'),
    path: properties,
    is: '400 invalid_body',
    says: [/^\/payload\/media\/0\/media_url/, /"\/1.jpg" was sent/, /absolute http or https URL/],
  },
  'a contact in the feed of properties': {
    curl: json(`{"payload":{"contact_ref":"${id}","last_name":"Siân"}}`),
    path: properties,
    is: '400 invalid_body',
    says: [/looks like a contact/, /POST \/v1\/contact-events/],
  },
  'a property in the feed of contacts': {
    curl: json(`{"payload":{"agent_ref":"${id}","published":true}}`),
    path: contacts,
    is: '400 invalid_body',
    says: [/looks like a property/, /POST \/v1\/property-events/],
  },
  'an event type that there is not': {
    curl: json(`{"payload":{"agent_ref":"${id}","published":true},"eventType":"Sold"}`),
    path: properties,
    is: '400 invalid_body',
    says: [/"Sold" was sent/, /Allowed are PropertyPublished, PropertyUnpublished, PropertyUpdated/],
  },
  'a removal as the payload names it': {
    curl: json(`{"remove":{"agent_ref":"${id}"}}`),
    path: properties,
    is: '400 invalid_body',
    says: [/Did you mean agentRef\?/, /\{"remove": \{"agentRef": "…", "reason": 9\}\}/],
  },
  'a removal alone': {
    curl: json(`{"agentRef":"${id}","reason":9}`),
    path: properties,
    is: '400 invalid_body',
    says: [/\{"remove": \{"agentRef": …\}\}/],
  },
  'a category in other words': {
    curl: json(`{"payload":{"agent_ref":"${id}","published":true},"category":"rent"}`),
    path: properties,
    is: '400 invalid_body',
    says: [/"rent" was sent/, /Allowed are sales and lettings/],
  },
  'an object for an id': {
    curl: json(`{"payload":{"agent_ref":"${id}","published":true},"id":{}}`),
    path: properties,
    is: '400 invalid_body',
    says: [/an object was sent/, /A UUID is/],
  },
  'a removal by its reference alone': {
    curl: json(`{"remove":"${id}"}`),
    path: properties,
    is: '400 invalid_body',
    says: [/a string was sent/, /\{"remove": \{"agentRef": "…", "reason": 9\}\}/],
  },
  'a removal of nothing': {
    curl: json('{"remove":{}}'),
    path: properties,
    is: '400 invalid_body',
    says: [/nothing was sent/, /agentRef of the property must be a UUID/],
  },
  'a payload as text that is not JSON': {
    curl: json(String.raw`{"payload":"{\"agent_ref\":\"x\",}"}`),
    path: properties,
    is: '400 invalid_body',
    says: [/In the payload's text: Invalid JSON at line 1, column 18/, /Remove the comma before it/],
  },
  'a text for the roles of a contact': {
    curl: json(`{"payload":{"contact_ref":"${id}","roles":"landlord"}}`),
    path: contacts,
    is: '400 invalid_body',
    says: [/a string of 8 characters was sent/, /Send a list, even of one/],
  },
  'yes for a consent': {
    curl: json(`{"payload":{"contact_ref":"${id}","communications":[{"consent":{"marketing":"yes"}}]}}`),
    path: contacts,
    is: '400 invalid_body',
    says: [/a string of 3 characters was sent/, /Send true or false, without quotes/],
  },
  'a file’s name for the file': {
    curl: json('listings.json'),
    path: properties,
    is: '400 invalid_body',
    says: [/near `listings\.json`/, /put @ before the name/],
  },
  'events in an object of their own': {
    curl: json(`{"events":[{"payload":{"agent_ref":"${id}","published":true}}]}`),
    path: properties,
    is: '400 invalid_body',
    says: [/^\/events/, /as an array, without an object around it/],
  },
  'a payload under another name': {
    curl: json(`{"data":{"agent_ref":"${id}","published":true}}`),
    path: properties,
    is: '400 invalid_body',
    says: [/^\/data/, /Did you mean payload\?/],
  },
  'a price with a comma': {
    curl: payload('"price_information":{"price":450,000}'),
    path: properties,
    is: '400 invalid_body',
    says: [/line 1, column \d+/, /no commas between its digits/],
  },
  'no number': {
    curl: payload('"price_information":{"price":NaN}'),
    path: properties,
    is: '400 invalid_body',
    says: [/near /, /send a number in digits, or null/],
  },
  'a comment': {
    curl: json('{ // Tŷ gwyn\n"payload": {}}'),
    path: properties,
    is: '400 invalid_body',
    says: [/line 1, column 3/, /no comments: remove it/],
  },
  'a bracket too many': {
    curl: json(`{"payload":{"agent_ref":"${id}","published":true}}}`),
    path: properties,
    is: '400 invalid_body',
    says: [/line 1, column/, /one bracket too many/],
  },
  'a text after the JSON': {
    curl: json(`{"payload":{"agent_ref":"${id}","published":true}} diolch`),
    path: properties,
    is: '400 invalid_body',
    says: [/line 1, column/, /the JSON has ended: then remove what follows/],
  },
  'a comma too few': {
    curl: json(`{"payload":{"agent_ref":"${id}" "published":true}}`),
    path: properties,
    is: '400 invalid_body',
    says: [/line 1, column/, /A comma or a colon is missing before it/],
  },
  'quotation marks inside a text': {
    curl: payload('"details":{"summary":"Y tŷ "gwyn" – £1"}'),
    path: properties,
    is: '400 invalid_body',
    says: [/line 1, column/, /inside a text is written \\"/],
  },
  'a reference without hyphens in a payload': {
    curl: json(`{"payload":{"agent_ref":"${id.replaceAll('-', '')}","published":true}}`),
    path: properties,
    is: '400 invalid_body',
    says: [/write them with hyphens/, /^(?!.*your own reference)/],
  },
  'text that is cut off': {
    curl: json(`{"payload":{"agent_ref":"${id}"`),
    path: properties,
    is: '400 invalid_body',
    says: [/ends too early/, /Close every bracket/],
  },
  'one object for a list': {
    curl: payload('"media":{"media_type":1}'),
    path: properties,
    is: '400 invalid_body',
    says: [/an object was sent/, /\[\{…\}\]/],
  },
  'a type of property in Welsh': {
    curl: payload('"property_type":"Tŷ pâr"'),
    path: properties,
    is: '400 invalid_body',
    says: [/"Tŷ pâr" was sent/, /Send the number of the property type; the codes are in \/docs/],
  },
  'neither a payload nor a removal': {
    curl: json('{}'),
    path: properties,
    is: '400 invalid_body',
    says: [/Neither "payload" nor "remove" was sent/, /\{"payload": \{…\}\}/],
  },
  'the same id for other content': {
    curl: json(`{"id":"TAKEN","payload":{"agent_ref":"${id}","published":true}}`),
    path: properties,
    is: '409 id_conflict',
    says: [/TAKEN/, /Send it with another id/],
  },
}

describe('a mistake with curl', () => {
  let service: TestService
  let latin: string
  let taken: string
  const known = property()
  const folder = makeStoreFolder()

  before(async () => {
    service = await startTestService()
    const { events } = await publish(service, { payload: known })
    taken = events[0]?.id ?? ''
    latin = join(folder, 'latin.json')
    writeFileSync(latin, Buffer.from('{"payload":{"town":"\xa3"}}', 'latin1'))
  })
  after(() => service.stop())

  async function answered({
    curl,
    path,
  }: Mistake): Promise<{ readonly head: string; readonly detail: string }> {
    const { readKey, publishKey } = service.tenant
    const filled = (text: string): string =>
      text
        .replaceAll('READ', readKey)
        .replaceAll('PUBLISH', publishKey)
        .replaceAll('KNOWN', known.agent_ref)
        .replaceAll('TAKEN', taken)
        .replaceAll('LATIN', latin)
    const address = `http://127.0.0.1:${service.port}${filled(path)}`
    const { stdout } = await run('curl', ['-s', ...curl.map(filled), address])
    const problem = JSON.parse(stdout) as { status: number; code: string; detail: string }
    const detail = problem.detail.replaceAll(known.agent_ref, 'KNOWN').replaceAll(taken, 'TAKEN')
    return { head: `${problem.status} ${problem.code}`, detail }
  }

  const mistakes = Object.entries({ ...keyMistakes, ...addressMistakes, ...bodyMistakes })

  it(
    'is answered with what was sent, what is allowed and what to do (D6, D7, PROTOCOL §7)',
    withCurl,
    async () => {
      assert.ok(mistakes.length >= 39)
      const wrong: string[] = []
      for (const [said, mistake] of mistakes) {
        const { head, detail } = await answered(mistake)
        const missing = mistake.says.filter((words) => !words.test(detail))
        if (head !== mistake.is || missing.length > 0)
          wrong.push(`${said}: ${head} ${detail} (${missing.join(' ')})`)
      }
      assert.deepEqual(wrong, [])
    },
  )
})
