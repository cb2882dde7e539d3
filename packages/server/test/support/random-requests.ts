/** Requests made from the OpenAPI document: some right, some nearly, some not at all. The same seed gives the same ones. */
import assert from 'node:assert/strict'
import { contact, property } from './property.ts'
import type { DocumentedOperation, Parameter } from './openapi-document.ts'
import type { TestTenant } from './test-service.ts'

export interface RandomRequest {
  readonly operation: DocumentedOperation
  readonly method: string
  readonly path: string
  readonly key: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | undefined
}

/** What is known about the service: makes requests that hit something. */
export interface Surroundings {
  readonly tenants: readonly TestTenant[]
  /** Of operators, and of whoever manages a tenant. */
  readonly adminKeys: readonly string[]
  /** Ids of events that are stored. */
  readonly ids: readonly string[]
  /** Tags seen in answers. */
  readonly tags: readonly string[]
}

function isAdmin({ path }: DocumentedOperation): boolean {
  return path.startsWith('/v1/admin')
}

export type Random = (below: number) => number

/** mulberry32: 32 bits of state, good enough to vary requests. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

const nasty = [
  '',
  ' ',
  '0',
  '-1',
  '1e309',
  '0x10',
  'NaN',
  'null',
  'true',
  '[]',
  '{}',
  '%',
  '%00',
  '\u0000',
  "'; DROP TABLE event;--",
  '1 OR 1=1',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '__proto__',
  'constructor',
  '${7*7}',
  '{{7*7}}',
  '\r\nx-evil: 1',
  'é',
  '🏠',
  '\u202e',
  '\ud800',
  'a'.repeat(300),
  '9'.repeat(30),
  '2025-02-30',
  '2025-01-31',
  '2025-01-31 23:59:59.99',
  '2999-01-01',
  '1735689600',
  'salesproperty',
  'contact',
  'pev_x',
  '*',
  '"',
  '\\',
  ';',
  '&',
  '=',
  '#',
  '?',
  '/',
  '+',
]

export function randomRequest(
  random: Random,
  operations: readonly DocumentedOperation[],
  surroundings: Surroundings,
): RandomRequest {
  const pick = <Item>(items: readonly Item[]): Item => {
    assert.ok(items.length > 0)
    return items[random(items.length)] as Item
  }
  const chance = (percent: number) => random(100) < percent
  const tenant = pick(surroundings.tenants)
  // Of so many operations few publish: without these, some runs would store nothing, and send no body of another type.
  if (chance(10)) return publication()
  const picked = pick(operations)
  // There are as many of administration as of all else.
  const operation = isAdmin(picked) && chance(70) ? pick(operations.filter((one) => !isAdmin(one))) : picked
  const { method } = operation
  const writes = method !== 'GET'
  const key = chance(85)
    ? isAdmin(operation) && chance(80)
      ? pick(surroundings.adminKeys)
      : writes
        ? tenant.publishKey
        : tenant.readKey
    : pick([
        undefined,
        ...surroundings.adminKeys,
        tenant.readKey,
        tenant.publishKey,
        'pev_',
        ...nasty.filter((text) => /^[ -~]*$/.test(text)),
      ])

  const pieces: string[] = []
  for (const parameter of operation.parameters ?? []) {
    if (parameter.in === 'query' && chance(40))
      pieces.push(`${parameter.name}=${encoded(valueFor(parameter))}`)
  }
  if (chance(8)) pieces.push(`${encoded(pick(nasty))}=${encoded(pick(nasty))}`)
  if (chance(3) && pieces[0] !== undefined) pieces.push(pieces[0])
  if (chance(2)) pieces.push(pick(['%ZZ', '%', '%FF=1', '&&', '=', 'page']))
  const filled = operation.path
    .replace('{eventId}', () =>
      chance(50) && surroundings.ids.length > 0
        ? pick(surroundings.ids)
        : chance(40)
          ? crypto.randomUUID()
          : encoded(pick(nasty)) || '-',
    )
    .replace('{tenantId}', () => (chance(80) ? tenant.tenantId : pick([crypto.randomUUID(), 'x'])))
    .replaceAll(/\{\w+\}/g, () =>
      isAdmin(operation) && chance(70) ? crypto.randomUUID() : encoded(pick(nasty)) || '-',
    )
  const path = pieces.length === 0 ? filled : `${filled}?${pieces.join('&')}`

  const headers: Record<string, string> = {}
  if (chance(20)) headers['accept-encoding'] = pick(['gzip', 'br', '*;q=0', 'gzip;q=0', 'identity'])
  if (chance(10))
    headers['accept'] = pick(['application/json', 'text/html', '*/*', 'text/xml', 'application/json;q=0'])
  if (chance(40) && surroundings.tags.length > 0)
    headers['if-none-match'] = pick([...surroundings.tags, '*', '"x"'])
  for (const parameter of operation.parameters ?? []) {
    // A number to be seen is waited for, and not reaching it is a 503.
    if (parameter.in !== 'header' || parameter.name === 'x-feed-min-sequence' || chance(90)) continue
    headers[parameter.name] = pick([tenant.tenantId, ...nasty.filter((text) => /^[ -~]*$/.test(text))])
  }
  if (writes)
    headers['content-type'] = chance(90)
      ? 'application/json'
      : pick(['application/x-ndjson', 'text/plain', 'application/json; charset=utf-16'])
  const headed = method === 'GET' && chance(8) ? 'HEAD' : method
  return {
    operation,
    method: headed,
    path,
    key,
    headers,
    body: writes ? (isAdmin(operation) && chance(70) ? adminBody() : randomBody(operation)) : undefined,
  }

  /** With the right key, and often with a body of the right type. */
  function publication(): RandomRequest {
    const published = pick(operations.filter(({ operationId }) => operationId.startsWith('publish')))
    const { path: publishPath, method: post } = published
    const type = pick(['application/json', 'application/json', 'application/json', 'application/xml'])
    return {
      operation: published,
      method: post,
      path: publishPath,
      key: tenant.publishKey,
      headers: { 'content-type': type },
      body: randomBody(published),
    }
  }

  /** Never one that suspends a tenant: the rest of the requests would be refused. */
  function adminBody(): string {
    const grant = () => ({
      tenantId: chance(80) ? tenant.tenantId : crypto.randomUUID(),
      scopes: [pick(['property:read', 'tenant:manage', 'admin:manage', 'x'])],
    })
    const members: Readonly<Record<string, unknown>> = {
      name: chance(60) ? `Agency ${random(1_000)}` : pick(nasty),
      reference: pick(['4711', null, ...nasty]),
      suspended: pick([false, 'x', null]),
      label: pick(['Website', ...nasty]),
      operator: pick([true, false]),
      scopes: pick([['admin:inspect'], ['admin:manage'], [], 'x']),
      grants: pick([[grant()], [grant(), grant()], [], [{}]]),
      expiresAt: pick(['2999-01-01', '2020-01-01', null, 7]),
      rate: pick([{ perSecond: 1_000, burst: 1_000 }, { perSecond: 0, burst: 1 }, null, 'x']),
      networks: pick([['192.0.2.0/24'], ['x'], [], null]),
      overlapHours: pick([0, 24, 721, -1, 'x']),
      keys: [],
    }
    const names = Object.keys(members).filter(() => chance(30))
    return JSON.stringify(Object.fromEntries(names.map((name) => [name, members[name]])))
  }

  function valueFor({ schema }: Parameter): string {
    if (chance(35)) return pick(nasty)
    if (Array.isArray(schema['enum'])) return String(pick(schema['enum']))
    if (schema['type'] === 'integer')
      return String(1 + random(chance(70) ? 20 : Number(schema['maximum'] ?? 1_000)))
    if (schema['type'] === 'boolean') return pick(['true', 'false'])
    return pick(['2025-01-31', '2020-01-01 00:00:00.00', '2999-12-31T23:59:59.9999999Z', '2024-02-29'])
  }

  function randomBody({ path: of }: DocumentedOperation): string | Buffer {
    const make = () => {
      const payload = of.includes('contact')
        ? contact()
        : property(chance(30) ? { [pick(nasty)]: pick(nasty), status: random(12) } : {})
      return {
        payload: chance(20) ? JSON.stringify(payload) : payload,
        ...(chance(20)
          ? { id: surroundings.ids.length > 0 && chance(40) ? pick(surroundings.ids) : crypto.randomUUID() }
          : {}),
        ...(chance(10) ? { eventType: pick(['PropertyPublished', 'ContactUpdated', ...nasty]) } : {}),
        ...(chance(10) ? { category: pick(['sales', 'lettings', ...nasty]) } : {}),
        ...(chance(5) ? { [pick(nasty)]: pick(nasty) } : {}),
      }
    }
    const removal = { remove: { agentRef: crypto.randomUUID() } }
    const text = JSON.stringify(
      chance(5) ? removal : chance(50) ? make() : Array.from({ length: random(4) }, make),
    )
    if (chance(80)) return text
    const at = random(text.length)
    return pick<() => string | Buffer>([
      () => text.slice(0, at),
      () => text.slice(0, at) + pick(nasty) + text.slice(at),
      () => text.slice(0, at) + text.slice(at + 1),
      () => `${text}\n${text}`,
      () => '['.repeat(5_000),
      () => pick(nasty),
      () =>
        Buffer.concat([
          Buffer.from(text.slice(0, at)),
          Buffer.from([random(256), random(256)]),
          Buffer.from(text.slice(at)),
        ]),
    ])()
  }
}

/** Percent-encoded, also where `encodeURIComponent` would refuse a lone surrogate. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
