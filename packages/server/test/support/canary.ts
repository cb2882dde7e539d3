/** A text in every field of a payload, and every way in which a service could show it. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { ContactPayload, PropertyPayload } from '@property-events/protocol/schemas'
import { call, contactGetPath, contactListPath, getPath, listPath, publish } from './http-client.ts'
import type { Answer } from './http-client.ts'
import { contact, property } from './property.ts'
import type { TestService } from './test-service.ts'
import { until } from './until.ts'

export const canary = 'canary-51c0'

export interface Erased {
  readonly feed: 'property' | 'contact'
  readonly subjectId: string
  /** Of its events. */
  readonly ids: readonly string[]
}

/** Every field of a schema that can hold text, with the canary in it. */
function canaryIn(schema: object, name = ''): unknown {
  const types = 'type' in schema ? [schema.type].flat() : []
  const inner = 'properties' in schema ? Object.entries(schema.properties as Record<string, object>) : []
  if (inner.length > 0) return Object.fromEntries(inner.map(([name, field]) => [name, canaryIn(field, name)]))
  if (types.includes('array')) return [canaryIn('items' in schema ? (schema.items as object) : {}, name)]
  // One that says that it is erased would be taken at its word.
  if (types.includes('boolean')) return undefined
  if (types.includes('number') || types.includes('integer')) return 1
  if (name === 'agent_ref') return crypto.randomUUID()
  return name.includes('url') ? `https://images.example.com/${canary}.jpg` : canary
}

/** The canary in each field and in one that is not defined; versions differ by `price`. */
function propertyWithCanary(agentRef: string, price: number) {
  const fields = canaryIn(PropertyPayload) as Readonly<Record<string, unknown>>
  return {
    ...fields,
    agent_ref: agentRef,
    published: true,
    price_information: { price },
    // The office of an agency, by which keys are limited: it is not about a person, and stays (docs/decisions/0042).
    branch_id: 'north',
    [canary]: canary,
  }
}

function contactWithCanary(contactRef: string, version: number) {
  const fields = canaryIn(ContactPayload) as Readonly<Record<string, unknown>>
  return { ...fields, contact_ref: contactRef, notes: `${canary} ${version}`, [canary]: canary }
}

/** Three versions of one property and one contact, among so many others that the pages of both feeds are sealed. */
export async function publishCanary(
  service: Pick<TestService, 'port' | 'tenant'>,
): Promise<readonly Erased[]> {
  const erased: Erased[] = []
  for (const feed of ['property', 'contact'] as const) {
    const other = () => ({ payload: feed === 'property' ? property() : contact() })
    const subjectId = crypto.randomUUID()
    const make = feed === 'property' ? propertyWithCanary : contactWithCanary
    const ids: string[] = []
    for (const price of [1, 2, 3]) {
      const { events } = await publish(service, [{ payload: make(subjectId, price) }], { feed })
      ids.push(...events.map(({ id }) => id))
      await publish(service, Array.from({ length: 70 }, other), { feed })
    }
    erased.push({ feed, subjectId, ids })
  }
  return erased
}

/** Every address that could show the erased. */
export function addressesOf(erased: readonly Erased[]): readonly string[] {
  return erased.flatMap(({ feed, subjectId, ids }) => {
    const [lists, gets] = feed === 'property' ? [listPath, getPath] : [contactListPath, contactGetPath]
    const subjects = feed === 'property' ? '/v1/properties' : '/v1/contacts'
    const events = `/v1/${feed}-events`
    return [
      lists,
      `${lists}?pageSize=50&page=2`,
      `${lists}?pageSize=1000`,
      `${lists}?from=2020-01-01`,
      `${lists}?from=2020-01-01&to=2099-01-01&pageSize=7&page=11`,
      ...(feed === 'property' ? [`${lists}?apiEventType=lettingsproperty&pageSize=300`] : []),
      ...ids.map((id) => `${gets}/${id}`),
      events,
      `${events}?after=60&limit=50`,
      `${events}/snapshot`,
      `${events}/reduced`,
      `${subjects}/${subjectId}`,
      `${subjects}/${subjectId}/history`,
      `${subjects}/${subjectId}/history?changes=true`,
    ]
  })
}

/** Each address plain and gzipped, and with tags of before where there are any. */
export async function readAll(
  service: Pick<TestService, 'port' | 'tenant'>,
  addresses: readonly string[],
  tags: ReadonlyMap<string, string> = new Map(),
): Promise<ReadonlyMap<string, Answer>> {
  const answers = new Map<string, Answer>()
  for (const address of addresses) {
    for (const coding of ['identity', 'gzip']) {
      const name = `${address} ${coding}`
      const tag = tags.get(name)
      const headers = { 'accept-encoding': coding, ...(tag === undefined ? {} : { 'if-none-match': tag }) }
      answers.set(name, await call(service, address, { key: service.tenant.readKey, headers }))
    }
  }
  return answers
}

export function tagsOf(answers: ReadonlyMap<string, Answer>): ReadonlyMap<string, string> {
  return new Map([...answers].flatMap(([name, { headers }]) => (headers.etag ? [[name, headers.etag]] : [])))
}

export function textOf({ headers, body }: Answer): string {
  return (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString()
}

/** Names of the answers that hold the canary. */
export function showing(answers: ReadonlyMap<string, Answer>): readonly string[] {
  return [...answers].filter(([, answer]) => textOf(answer).includes(canary)).map(([name]) => name)
}

export interface ReceiptBody {
  readonly id: string
  readonly state: string
  readonly events: number
  readonly reduced: number
  readonly closing: { readonly id: string; readonly sequenceNumber: number } | null
  readonly notCovered: readonly { readonly code: string }[]
  readonly [member: string]: unknown
}

export function postErasure(
  service: Pick<TestService, 'port' | 'tenant'>,
  body: unknown,
  query = '',
  key: string = service.tenant.eraseKey,
): Promise<Answer> {
  return call(service, `/v1/erasures${query}`, {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

export async function receiptOf(
  service: Pick<TestService, 'port' | 'tenant'>,
  id: string,
): Promise<ReceiptBody> {
  const answer = await call(service, `/v1/erasures/${id}`, { key: service.tenant.eraseKey })
  assert.equal(answer.status, 200, answer.text)
  return JSON.parse(answer.text) as ReceiptBody
}

/** What else can become of the erased: another category, a text too long for its row, and withdrawal. */
export async function changeCanary(
  service: Pick<TestService, 'port' | 'tenant'>,
  erased: readonly Erased[],
): Promise<void> {
  for (const { feed, subjectId } of erased) {
    // Nothing to be compressed: a text that was, is not found by looking for its bytes.
    const long = `${canary} ${randomBytes(9_000).toString('base64')} ${canary}`
    const payload =
      feed === 'property'
        ? { ...propertyWithCanary(subjectId, 4), details: { description: long } }
        : { ...contactWithCanary(subjectId, 4), note: long }
    const moved = feed === 'property' ? { category: 'lettings' } : {}
    await publish(service, [{ payload, ...moved }], { feed })
    const withdrawal =
      feed === 'property'
        ? { remove: { agentRef: subjectId } }
        : { payload: contactWithCanary(subjectId, 5), eventType: 'ContactErased' }
    await publish(service, [withdrawal], { feed })
    await publish(service, [{ payload, ...moved }], { feed })
  }
}

/** Erases, and waits until nothing is reachable. */
export async function eraseAll(
  service: Pick<TestService, 'port' | 'tenant'>,
  erased: readonly Pick<Erased, 'feed' | 'subjectId'>[],
): Promise<readonly ReceiptBody[]> {
  const receipts: ReceiptBody[] = []
  for (const { feed, subjectId } of erased) {
    const begun = await postErasure(service, { feed, subjectId, reason: 'data_subject_request' })
    assert.equal(begun.status, 202, begun.text)
    const { id } = JSON.parse(begun.text) as ReceiptBody
    const isDone = async () => (await receiptOf(service, id)).state === 'unreachable'
    await until(isDone, { what: 'nothing to be reachable' })
    receipts.push(await receiptOf(service, id))
  }
  return receipts
}
