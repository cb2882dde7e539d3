/** Requests with the client, and with `fetch` where the client has no call for them. */
import { isStream } from './request.ts'
import type { SampleRequest } from './request.ts'

export function typescriptSample(request: SampleRequest): string {
  const call = clientCall(request)
  if (call === undefined) return fetchSample(request)
  const { operationId } = request
  const feed = operationId.includes('Contact') ? `, feed: 'contact'` : ''
  return `import { ${['createClient', ...call.imports].join(', ')} } from '@property-events/client'

const { PROPERTY_EVENTS_URL: baseUrl = '', PROPERTY_EVENTS_KEY: key = '' } = process.env
const client = createClient({ baseUrl, key${feed} })
${call.text}`
}

interface Call {
  readonly imports: readonly string[]
  readonly text: string
}

/** By what is left of an operation's id without its feed. */
function clientCall({ operationId, query, params, body }: SampleRequest): Call | undefined {
  const calls: Readonly<Record<string, () => string>> = {
    listEvents: () => `const page = await client.list(${numbers(query)})
console.log(page.availableCount, page.items)

// Every event, page after page:
for await (const event of client.list()) console.log(event.sequenceNumber)`,
    getEvent: () => `const event = await client.get('${params['eventId'] ?? ''}')
console.log(event?.payload)`,
    publishEvents: () => `const receipt = await client.publish(${literal(body)})
console.log(receipt.events, receipt.warnings)`,
    readEvents: () => `const run = await client.after(${numbers(query)})
console.log(run.items, run.next, run.head)`,
    get: () => `const event = await client.subject('${params['subjectId'] ?? ''}')
console.log(event?.payload)`,
    readHistory: () =>
      `for await (const event of client.history('${params['subjectId'] ?? ''}')) console.log(event.sequenceNumber)`,
    acknowledgeEvents: () => `await client.acknowledge(${literal(body)})
console.log('Acknowledged.')`,
    reportResults: () => `console.log(await client.report(${literal(body)}))`,
    getConsumers: () => `const seen = await client.delivery('${params['subjectId'] ?? ''}')
for (const { label, name, sentence } of seen?.consumers ?? []) console.log(label, name, sentence)`,
    getTerms: () => `const terms = await client.terms('${params['subjectId'] ?? ''}', { at: '2026-01-31' })
console.log(terms?.sentence, terms?.terms?.price)`,
    readHeads: () => `console.log(await client.heads())`,
    erase: () => `const receipt = await client.erase(${literal(withoutFeed(body))})
console.log(receipt.id, receipt.state)`,
    addHold: () => `const hold = await client.addHold(${literal(withoutFeed(body))})
console.log(hold.id, hold.state)`,
    listHolds: () => `for await (const hold of client.holds()) console.log(hold.id, hold.state)`,
    endHold: () => `const hold = await client.endHold('${params['holdId'] ?? ''}')
console.log(hold?.state)`,
    restrict: () => `const restriction = await client.restrict(${literal(withoutFeed(body))})
console.log(restriction.id, restriction.state)`,
    listRestrictions: () => `for await (const { id, state } of client.restrictions()) console.log(id, state)`,
    getRestriction: () =>
      `const restriction = await client.restriction('${params['restrictionId'] ?? ''}')
console.log(restriction?.state)`,
    endRestriction: () =>
      `const restriction = await client.endRestriction('${params['restrictionId'] ?? ''}')
console.log(restriction?.state)`,
    listErasures: () =>
      `for await (const receipt of client.erasures()) console.log(receipt.id, receipt.state)`,
    getErasure: () => `const receipt = await client.erasure('${params['erasureId'] ?? ''}')
console.log(receipt?.state)`,
  }
  const name = operationId.replace(/Property|Contact/, '')
  if (name === 'readSnapshot') return { imports: ['memoryCheckpoint'], text: copy }
  const text = calls[name]?.()
  return text === undefined ? undefined : { imports: [], text }
}

const copy = `
// Reads the snapshot, and then the events after it.
const copy = new Map<string, unknown>()
await client.sync({
  checkpoint: memoryCheckpoint(),
  apply({ changes, startsOver }) {
    if (startsOver) copy.clear()
    for (const change of changes) {
      if (change.kind === 'remove') copy.delete(change.subjectId)
      else copy.set(change.subjectId, change.payload)
    }
  },
})
console.log(copy.size)`

function fetchSample({ operationId, method, target, needsKey, body }: SampleRequest): string {
  const headers = [
    ...(needsKey ? [`'x-api-key': key`] : []),
    ...(body === undefined ? [] : [`'content-type': 'application/json'`]),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(', ')} }`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${literal(body)})`]),
  ]
  const given = options.length === 0 ? '' : `, {\n  ${options.join(',\n  ')},\n}`
  if (isStream(operationId)) return streamSample(target, headers)
  // Of many lines, or of none that is JSON.
  const read = target === '/docs' || target.includes('/snapshot') ? 'text' : 'json'
  return `const { PROPERTY_EVENTS_URL: baseUrl = ''${needsKey ? `, PROPERTY_EVENTS_KEY: key = ''` : ''} } = process.env
const answer = await fetch(\`\${baseUrl}${target}\`${given})
if (!answer.ok) throw new Error(\`\${answer.status}: \${await answer.text()}\`)
console.log(await answer.${read}())`
}

/** Prints what comes, as long as the stream lasts. */
function streamSample(target: string, headers: readonly string[]): string {
  return `const { PROPERTY_EVENTS_URL: baseUrl = '', PROPERTY_EVENTS_KEY: key = '' } = process.env
const answer = await fetch(\`\${baseUrl}${target}\`, { headers: { ${headers.join(', ')} } })
if (!answer.ok || answer.body === null) throw new Error(\`\${answer.status}: \${await answer.text()}\`)
for await (const text of answer.body.pipeThrough(new TextDecoderStream())) console.log(text)`
}

/** The client names the feed itself. */
function withoutFeed(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'feed'))
}

function numbers(query: Readonly<Record<string, string>>): string {
  const members = Object.entries(query).map(([name, value]) => `${name}: ${value}`)
  return `{ ${members.join(', ')} }`
}

/** A value as a program has it: names without quotes where they need none. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replaceAll(/^( *)"([a-z_]\w*)":/gim, '$1$2:')
    .replaceAll(/: "((?:[^"\\']|\\[^"])*)"(,?)$/gm, `: '$1'$2`)
}
