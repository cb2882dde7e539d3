/** Publish requests at random: good ones, and with everything that can be wrong with one. */
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { contact, property } from './property.ts'

/** Ids and properties that come up again and again, so that requests repeat, contradict and remove each other's. */
const ids = Array.from({ length: 5 }, () => randomUUID())
const properties = Array.from({ length: 5 }, () => property())

export interface PublishRequest {
  readonly path: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** Which of five. */
  readonly key: number
}

/** Mostly to `path`, with the first of five keys, and unusual in one thing at most. */
export function publishRequests(path: string): fc.Arbitrary<PublishRequest> {
  const oneOf = <Value>(...values: readonly Value[]) => fc.constantFrom(...values)
  const item = fc.oneof(
    { weight: 4, arbitrary: oneOf(...properties).map((payload) => ({ payload })) },
    fc
      .tuple(oneOf(...properties), oneOf(...ids), oneOf(250_000, 260_000), fc.boolean())
      .map(([given, id, price, published]) => ({
        id,
        payload: { ...given, published, price_information: { price } },
      })),
    oneOf(...properties, property()).map(({ agent_ref }) => ({ remove: { agentRef: agent_ref } })),
    oneOf<unknown>(
      { payload: contact() },
      { payload: property({ note: 'x'.repeat(9_000) }) },
      { payload: property({ status: 'x' }) },
      { payload: property(), eventType: 'x' },
      { payload: property(), tenantId: 'x' },
      { payload: '{"a":1,"a":2}' },
      { payload: [[[[[[[[[[]]]]]]]]]] },
      {},
      17,
    ),
  )
  const items = fc.oneof(
    { weight: 2, arbitrary: fc.array(item, { maxLength: 6 }) },
    { weight: 3, arbitrary: item },
  )
  const text = fc.oneof(
    { weight: 6, arbitrary: items.map((value) => JSON.stringify(value)) },
    fc.array(item, { maxLength: 4 }).map((all) => all.map((one) => JSON.stringify(one)).join('\n')),
    fc.tuple(items, fc.nat(400)).map(([value, end]) => JSON.stringify(value).slice(0, end)),
    oneOf('', ' ', '[]', '[', 'null', '{"payload":1e999}', '\ufeff{}', '['.repeat(500), ' '.repeat(20_001)),
  )
  const body = fc.oneof(
    { weight: 9, arbitrary: text },
    text.map((all) => Buffer.concat([Buffer.from(all), Buffer.from([0xff])])),
  )
  const query = fc.oneof(
    { weight: 4, arbitrary: fc.constant('') },
    oneOf('?dryRun=true', '?unchanged=skip', '?', '?dryRun=false&unchanged=store'),
    oneOf('?dryRun=1', '?dryrun=true', '?a=b', '?%zz', '?unchanged=skip&unchanged=skip', '/', '#'),
  )
  const type = fc.oneof(
    { weight: 8, arbitrary: oneOf('application/json', 'application/x-ndjson') },
    oneOf('application/json; charset=utf-8', 'Application/JSON;charset=UTF-8', 'application/json;'),
    oneOf('application/json; charset="utf-8"', 'application/json; charset', 'text/plain', 'x', ''),
    oneOf('application/json; charset=utf-16', 'application/json; q'),
  )
  const usual = fc.record(
    {
      accept: oneOf('*/*', 'application/json', 'application/*;q=0.1'),
      'accept-encoding': oneOf('gzip', 'identity'),
      connection: oneOf('close', 'keep-alive'),
      'x-forwarded-for': oneOf('192.0.2.1'),
      origin: oneOf('https://example.org'),
    },
    { requiredKeys: [] },
  )
  const unusual = oneOf<Readonly<Record<string, string>>>(
    { accept: 'text/html' },
    { accept: 'application/json;q=0' },
    { 'content-encoding': 'identity' },
    { 'content-encoding': 'gzip' },
    { expect: '100-continue' },
    { expect: 'x' },
    { host: 'a/b' },
  )
  const more = fc.oneof(
    { weight: 5, arbitrary: usual },
    fc.tuple(usual, unusual).map(([some, odd]) => ({ ...some, ...odd })),
  )
  return fc.record({
    path: fc.tuple(oneOf(path, path, path, '/v1/contact-events'), query).map(([base, asked]) => base + asked),
    method: fc.oneof({ weight: 12, arbitrary: fc.constant('POST') }, oneOf('PUT', 'DELETE', 'OPTIONS')),
    headers: fc.tuple(type, more).map(([given, others]) => ({ 'content-type': given, ...others })),
    body,
    key: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.nat(4)),
  })
}
