/** The short explanations around the operations. Numbers are those that the service has, so that they stay true. */
import { scopes } from '../../packages/protocol/src/feeds.ts'
import { defaultPublicationLimits, defaultLimits } from '../../packages/server/src/http/limits.ts'
import { block, code, link, prose, rows } from './html.ts'
import type { Links } from './html.ts'
import { headersOf } from './openapi.ts'
import type { OpenApi } from './openapi.ts'
import { curlSample } from './samples/curl.ts'
import { phpSample } from './samples/php.ts'
import { typescriptSample } from './samples/typescript.ts'

const number = (value: number): string => value.toLocaleString('en-GB')
const seconds = (milliseconds: number): string => `${milliseconds / 1_000} s`
const mebibytes = (bytes: number): string => `${bytes / 2 ** 20} MiB`
const kibibytes = (bytes: number): string => `${bytes / 1_024} KiB`

export function startHtml(): string {
  return `<p>The service keeps feeds of events: one of properties and one of contacts for each agency. A publisher adds events; readers
page through them, or keep a copy up to date. Paths are relative to the service's address, and bodies are JSON in UTF-8.</p>
<p>Set the address and your key once: then every sample on this page works as it is, if the key has the scope that the operation needs.</p>
${block('export PROPERTY_EVENTS_URL=https://feed.example.com PROPERTY_EVENTS_KEY=pev_…', 'Shell')}
<p>Samples in TypeScript use the package <code>@property-events/client</code>, those in PHP use plain PHP or the file <code>PropertyFeed.php</code>. Both come with
the service. The whole description for programs is <a href="openapi.json"><code>openapi.json</code></a>. Press <kbd>/</kbd> to search.</p>`
}

const scopeMeanings: Readonly<Record<(typeof scopes)[number], string>> = {
  'property:read': 'Read the property feed.',
  'contact:read': 'Read the contact feed, which is personal data.',
  'property:publish': 'Publish to the property feed.',
  'contact:publish': 'Publish to the contact feed.',
  'property:erase': 'Erase payloads of the property feed.',
  'contact:erase': 'Erase payloads of the contact feed.',
  'property:webhooks': 'Have events of the property feed posted; reading it as well is needed.',
  'contact:webhooks':
    'Have events of the contact feed posted, without payloads; reading it as well is needed.',
}

export function authenticationHtml(links: Links): string {
  const list = scopes.map((scope) => ({
    anchor: `scope-${scope}`,
    name: code(scope),
    kind: '',
    text: scopeMeanings[scope],
  }))
  return `<p>Send your key in the header <code>x-api-key</code>, and nowhere else: a key in the query, body or a cookie is ignored. The operator of the service
issues keys, each for one agency and with scopes. A key is shown once, when it is created.</p>
<p>${prose('A key that is missing or wrong is answered with 401 `unauthorized`. A valid key that may not do this gets a more specific code: `key_expired`, `key_revoked`, `key_disabled`, `key_scope`, or 403 `missing_scope`.', links)}
A revoked or expired key is refused within two seconds.</p>
<p>Keep the key on your server. A page in a browser reads the feed only on the same origin as the service, and shows its key to every visitor.</p>
${rows(list)}`
}

export function orderingHtml(links: Links): string {
  const rules: readonly (readonly [string, string])[] = [
    [
      'newest',
      'Only the event with the highest `sequenceNumber` of a property or contact is current. Compare numbers, never times, and let no lower number replace a higher one.',
    ],
    [
      'payload',
      'An event has the whole state of its subject, not a change. Whatever is absent from the newest payload no longer applies.',
    ],
    [
      'subject',
      'The subject is `agent_ref` of the payload, for contacts `contact_ref`. Compare it without regard to case. `transactionId` and `id` are not references of a property.',
    ],
    [
      'removal',
      'A property with `published` false must not be shown any more. A later event may publish it again.',
    ],
    [
      'pages',
      'The items of a full page never change. New events are on the last page, so page numbers can be kept. An erasure takes payloads and nothing else.',
    ],
    [
      'time',
      '`createdDate` is UTC and rises with the number. A reader that sends `x-feed-complete-until` of its last window as the next `from` misses nothing. Dates in payloads are London wall time, and give no order.',
    ],
    [
      'gaps',
      'Numbers rise by one within an epoch. In one category you see gaps: the numbers in between belong to the other.',
    ],
    [
      'epoch',
      'A new `x-feed-epoch` says that numbers continue after a gap, as after a restore: rebuild the copy from a snapshot.',
    ],
    [
      'revision',
      'A greater `x-feed-revision` says that earlier payloads were erased. A copy of the latest events needs nothing; one of the history reads which.',
    ],
    [
      'category',
      'Sales and lettings are views of one feed. A property that leaves a category is first unpublished there, and then published in the other one.',
    ],
  ]
  const list = rules.map(([name, text]) => `<li id="order-${name}">${prose(text, links)}</li>`)
  return `<ol>\n${list.join('\n')}\n</ol>`
}

export function copyHtml(): string {
  const request = {
    operationId: 'readPropertySnapshot',
    method: 'GET',
    target: '/v1/property-events/snapshot',
    needsKey: true,
    query: {},
    params: {},
    body: undefined,
  }
  return `<div><p>Read ${link('readPropertySnapshot', 'the snapshot')}: the latest event of every property. Then read ${link('readPropertyEvents', 'the events after its head')} and continue
with <code>after</code> = <code>next</code>, every few seconds or every few minutes. Keep the number with the copy, in one transaction. The client and <code>PropertyFeed.php</code>
do all this, start again where they must, and stop before a publisher's mistake empties your site.</p>
<p>A program that knows only the list pages through it once, and later requests events <code>from</code> the <code>createdDate</code> it saw last.</p></div>
<div class="samples">
${block(curlSample(request), 'curl', 'curl')}
${block(typescriptSample(request), 'TypeScript', 'typescript')}
${block(phpSample(request), 'PHP', 'php')}
</div>`
}

export function limitsHtml(links: Links): string {
  const { requests, snapshotsPerKey, requestsAtOncePerKey, maxBodyBytes, maxPageSize } = defaultLimits
  const { waitingPerKey, waitingPerNode } = defaultLimits
  const { maxEvents, maxPayloadBytes, maxPayloadDepth } = defaultPublicationLimits
  const lines: readonly (readonly [string, string])[] = [
    ['Events on a page', number(maxPageSize)],
    [
      'Requests of a key',
      `${requests.perSecond} a second, ${number(requests.burst)} at once; an answer 304 is not counted → 429 \`rate_limited\``,
    ],
    [
      'Requests of all keys of an agency',
      `${requests.perSecond * 5} a second, ${number(requests.burst * 5)} at once → 429 \`rate_limited\``,
    ],
    [
      'Requests of a key under way',
      `${number(requestsAtOncePerKey)} on each node → 429 \`too_many_at_once\``,
    ],
    ['Snapshots of a key under way', `${snapshotsPerKey} on each node → 429 \`too_many_snapshots\``],
    [
      'Requests that wait for events',
      `${waitingPerKey} of a key, ${number(waitingPerNode)} of all keys on each node → 429 \`too_many_waiting\``,
    ],
    [
      'Failed authentications of an address',
      `${defaultLimits.failures.burst}, then ${defaultLimits.failures.perSecond} a second → 429 \`too_many_failures\``,
    ],
    ['Events in a publish request', number(maxEvents)],
    ['Body of a request', `${mebibytes(maxBodyBytes)} → 413 \`body_too_large\``],
    [
      'One payload',
      `${kibibytes(maxPayloadBytes)}, ${maxPayloadDepth} levels, lists of 10,000 items → 400 \`invalid_body\``,
    ],
    ['Path and query', `${number(defaultLimits.maxTargetLength)} characters → 414 \`target_too_long\``],
    [
      'Request line and headers',
      `${kibibytes(defaultLimits.maxHeaderBytes)}, ${defaultLimits.maxHeaders} headers → 431 \`headers_too_large\``,
    ],
    [
      'Time to send headers, body',
      `${seconds(defaultLimits.headersTimeoutMs)}, ${seconds(defaultLimits.requestTimeoutMs)} → 408 \`request_timeout\``,
    ],
    [
      'Bytes under way, of a key',
      `${mebibytes(defaultLimits.inFlightBytesPerKey)} of bodies and of responses not yet read by the client → 503 \`overloaded\``,
    ],
  ]
  const list = lines.map(
    ([what, limit]) => `<tr><th scope="row">${what}</th><td>${prose(limit, links)}</td></tr>`,
  )
  return `<p>These are the default limits of a service. An operator can set others, and a key can have its own rate:
<code>openapi.json</code> of a service and its headers <code>RateLimit</code> say what applies there. Wait for the time in <code>Retry-After</code>.</p>
<table><tbody>
${list.join('\n')}
</tbody></table>`
}

export function headersHtml(document: OpenApi, links: Links): string {
  const list = [...headersOf(document)].map(([name, { description }]) => ({
    anchor: `header-${name}`,
    name: code(name),
    kind: '',
    text: prose(description, links),
  }))
  return `<p>Answers of the feeds carry <code>cache-control: private, no-cache</code>: send <code>If-None-Match</code> with the next request, and an unchanged page costs an empty 304.
With <code>Accept-Encoding: gzip</code> answers are compressed.</p>
${rows(list)}`
}
