/** Every route of the document is tried with a canary: a route that is added is tried without anybody's doing, or fails here (D17). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { adminScopes } from '@property-events/protocol'
import { canary, eraseAll, publishCanary, textOf } from '../support/canary.ts'
import { call, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { committedDocument, operationsOf } from '../support/openapi-document.ts'
import { contact } from '../support/property.ts'
import { openDeletion } from '../support/open-deletion.ts'
import { restrictContact } from '../support/restrictions.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { makeWebhook, webhookKey } from '../support/webhooks.ts'

const operations = operationsOf(committedDocument()).filter(({ method }) => method !== 'HEAD')

/** What stands in the paths of the document, by the name of the parameter. One that is not known here cannot be tried. */
type Values = Readonly<Record<string, string>>

function targetOf(path: string, values: Values): string {
  const target = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => values[name] ?? assert.fail(`${path} needs ${name}`),
  )
  // Among the properties of the others it would not be on the first page.
  if (path.endsWith('/properties')) return `${target}?search=${canary}`
  if (path.endsWith('{subjectId}/history')) return `${target}?changes=true`
  if (path.endsWith('/find')) return `${target}?text=${canary}`
  if (path.endsWith('/tenant-facts')) return `${target}?tenants=${values['tenantId']}`
  return path.endsWith('/rate') ? `${target}?from=2020-01-01&to=2099-01-01&buckets=3` : target
}

interface Asked {
  readonly keys: readonly string[]
  readonly subjects: readonly Values[]
}

const isStream = (path: string): boolean => path.endsWith('/stream')

/** What a stream sends from its beginning until the head of the feed; it does not end by itself. */
async function streamed({ url, port, tenant }: TestService, path: string): Promise<string> {
  const [run, key] = [path.replace('/stream', '?after=0&limit=1'), tenant.readKey]
  const head = String((await call({ port }, run, { key })).headers['x-feed-head'])
  const closing = new AbortController()
  const headers = { 'x-api-key': key, accept: 'text/event-stream' }
  const answer = await fetch(`${url}${path}?after=0`, { headers, signal: closing.signal })
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of answer.body ?? assert.fail('no stream')) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes(`.${head}\n`)) break
  }
  closing.abort()
  return text
}

/** Each route that reads, of each subject, with each key, plain and gzipped; the answers by name, those that were let in. */
async function readEvery(
  service: TestService,
  { keys, subjects }: Asked,
): Promise<ReadonlyMap<string, Answer>> {
  const answers = new Map<string, Answer>()
  for (const { path } of operations.filter((one) => one.method === 'GET' && !isStream(one.path))) {
    for (const target of new Set(subjects.map((values) => targetOf(path, values)))) {
      for (const key of keys) {
        for (const coding of ['identity', 'gzip']) {
          const answer = await call(service, target, { key, headers: { 'accept-encoding': coding } })
          if (answer.status === 200) answers.set(`${path} ${target} ${coding}`, answer)
          else assert.ok(!answer.text.includes(canary), `${path}: ${answer.text}`)
        }
      }
    }
  }
  return answers
}

function showing(answers: ReadonlyMap<string, Answer>): readonly string[] {
  return [...answers].filter(([, answer]) => textOf(answer).includes(canary)).map(([name]) => name)
}

// Routes are the same on every engine; what the engines keep has tests of its own.
describe('every route of the document', () => {
  let running: TestService
  const service = (): TestService => running
  before(async () => {
    running = await startTestService()
  })
  after(() => running.stop())

  it('shows nothing of what was erased, nor does the log (D17)', async () => {
    const { tenant, logLines } = service()
    const { tenantId, readKey, publishKey, eraseKey } = tenant
    const { text: operator, keyId } = await service().issue({ operator: true, adminScopes })
    const erased = await publishCanary(service())
    const contactRef = crypto.randomUUID()
    await publish(service(), [{ payload: contact({ contact_ref: contactRef }) }], { feed: 'contact' })
    const { id: restrictionId } = await restrictContact(service(), contactRef)
    const [first] = await eraseAll(service(), [{ feed: 'contact', subjectId: await spareContact(service()) }])
    const postingKey = await webhookKey(service())
    const webhook = await makeWebhook(service(), postingKey, { label: 'Gwefan Caerdydd – £' })
    const values = {
      tenantId,
      keyId,
      webhookId: webhook.id,
      restrictionId,
      deletionId: await openDeletion(service().storage),
      actor: 'cli:nobody',
      erasureId: first?.id ?? '',
      name: 'website',
      holdId: restrictionId,
      feed: 'contact',
    }
    const subjects = erased.flatMap(({ subjectId, ids }) =>
      ids
        .slice(0, 1)
        .map((eventId) => ({ ...values, subjectId, eventId, contactRef: subjectId, agentRef: subjectId })),
    )
    // What a consumer says may be made of the payload.
    for (const { subjectId } of erased) {
      const latest = await call(service(), `/v1/properties/${subjectId}`, { key: readKey })
      if (latest.status !== 200) continue
      const { sequenceNumber }: { sequenceNumber: number } = JSON.parse(latest.text)
      const result = { agentRef: subjectId, sequenceNumber, outcome: 'held', message: canary }
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify([result])
      const path = '/v1/property-consumers/website/results'
      const said = await call(service(), path, { method: 'POST', key: readKey, headers, body })
      assert.equal(said.status, 200, said.text)
    }
    const keys = [postingKey, readKey, publishKey, eraseKey, operator]
    const earlier = await readEvery(service(), { keys, subjects })
    const all = operations.filter(({ method }) => method === 'GET').map(({ path }) => path)
    const [reads, streams] = [all.filter((path) => !isStream(path)), all.filter(isStream)]
    for (const path of streams) assert.ok((await streamed(service(), path)).includes(canary), path)
    const tried = new Set([...earlier.keys()].map((name) => name.split(' ')[0]))
    // Of a key that has to do with no agency, and of an operator's own rights, no agency is told anything.
    assert.deepEqual(
      reads.filter((path) => !tried.has(path) && path !== '/v1/exposure/{keyId}'),
      [],
    )
    const shown = new Set(showing(earlier).map((name) => name.split(' ')[0] ?? ''))
    const payloads = /event|propert|contacts\/\{subjectId\}/
    const silent = reads.filter(
      (path) => payloads.test(path) && !/\/(?:reduced|digest|duties)$/.test(path) && !shown.has(path),
    )
    assert.deepEqual(silent, [], 'each of these shows it before')
    await eraseAll(service(), erased)
    assert.deepEqual(showing(await readEvery(service(), { keys, subjects })), [])
    for (const path of streams) assert.ok(!(await streamed(service(), path)).includes(canary), path)
    assert.ok(!logLines.join('\n').includes(canary), 'the log')
  })

  it('shows a limited key nothing of contacts that its grant leaves out (D11)', async () => {
    const { tenantId } = service().tenant
    const scopes = ['contact:read', 'tenant:inspect'] as const
    const limits = [undefined, { roles: ['vendor'] }] as const
    const published = await publishCanary(service())
    const { subjectId, ids } = published.find(({ feed }) => feed === 'contact') ?? assert.fail()
    const subjects = ids.map((eventId) => ({
      tenantId,
      eventId,
      subjectId,
      contactRef: subjectId,
      feed: 'contact',
      keyId: 'none',
      restrictionId: eventId,
      erasureId: eventId,
      holdId: eventId,
      webhookId: eventId,
      agentRef: subjectId,
      name: 'website',
      deletionId: eventId,
    }))
    const shown: (readonly string[])[] = []
    for (const contact of limits) {
      const { text } = await service().issue({ grants: [{ tenantId, scopes, ...(contact && { contact }) }] })
      const names = showing(await readEvery(service(), { keys: [text], subjects }))
      shown.push(names.filter((name) => name.includes('/contact')))
    }
    const [all = [], limited] = shown
    assert.ok(all.length > 10, 'each of these shows it to a key without limits')
    assert.deepEqual(limited, [])
    await eraseAll(service(), published)
  })

  it('says nothing in an answer or a log of a contact that was sent to it and is not well formed (D17)', async () => {
    const { tenant, logLines } = service()
    const { text: operator, keyId } = await service().issue({ operator: true, adminScopes })
    const id = crypto.randomUUID()
    const ids = { keyId, contactRef: id, holdId: id, restrictionId: id, deletionId: id, webhookId: id }
    const values = {
      tenantId: tenant.tenantId,
      ...ids,
      actor: 'cli:nobody',
      name: 'website',
      feed: 'contact',
    }
    const texts = { notes: [canary], email: { [canary]: canary }, phone: `${canary}\u0000`, name: 7 }
    const bodies = [
      { payload: { contact_ref: id, ...texts } },
      { payload: { contact_ref: canary } },
      { payload: canary },
      { payload: `{"contact_ref":"${id}","notes":"${canary}` },
      { payload: { contact_ref: id, notes: canary, photo_url: `https://${canary}` }, eventType: 7 },
    ]
    for (const { path, method, operationId } of operations.filter((one) => one.method !== 'GET')) {
      for (const key of [tenant.publishKey, tenant.eraseKey, operator]) {
        for (const body of [...bodies.map((one) => JSON.stringify(one)), `{"payload":{"notes":"${canary}"`]) {
          const headers = { 'content-type': 'application/json' }
          const answer = await call(service(), targetOf(path, values), { method, key, headers, body })
          const said = `${JSON.stringify(answer.headers)} ${answer.text}`
          // What a property's payload says may be quoted: it is published for everybody.
          if (operationId !== 'publishPropertyEvents') assert.ok(!said.includes(canary), `${path}: ${said}`)
        }
      }
    }
    assert.ok(!logLines.join('\n').includes(canary), 'the log')
  })
})

async function spareContact(service: TestService): Promise<string> {
  const { events } = await publish(service, [{ payload: contact() }], { feed: 'contact' })
  return events[0]?.transactionId ?? ''
}
