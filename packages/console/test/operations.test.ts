/** The operations that the console sends are those of openapi.json: their methods, paths and parameters, and what it reads of answers. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Operation } from '../src/service/operation.ts'
import * as privacy from '../src/service/operations/privacy.ts'
import * as feeds from '../src/service/operations/feeds.ts'
import * as keys from '../src/service/operations/keys.ts'
import * as records from '../src/service/operations/records.ts'
import * as tenants from '../src/service/operations/tenants.ts'
import * as webhooks from '../src/service/operations/webhooks.ts'

interface Parameter {
  readonly name: string
  readonly in: string
}
interface Described {
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[]
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> }
}

const document: Document = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../openapi.json'), 'utf8'),
)
const id = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'
const addresses: readonly feeds.FeedAddress[] = [
  { tenantId: id, feed: 'property', door: 'own' },
  { tenantId: id, feed: 'contact', door: 'own' },
  { tenantId: id, feed: 'property', door: 'admin' },
]
const page = { apiEventType: 'property', page: 1, pageSize: 100, from: '2026-01-01', to: '2026-01-02' }

const rows = { limit: 1, after: 'x', from: 'x', to: 'x' }

const webhook = { id, tenantId: id }

const erasure = { feed: 'contact', subjectId: id, reason: 'objection' } as const

/** Each operation with every parameter that it can have. */
const sent: readonly Operation<unknown>[] = [
  tenants.readSelf(),
  tenants.listTenants({ search: 'x', order: 'lastPublish', limit: 1, after: 'x' }),
  tenants.getTenant(id),
  tenants.listFeeds(id),
  tenants.listConsumers(id, 'property'),
  tenants.listProperties(id, { search: 'x', limit: 1, after: 'x' }),
  tenants.readHealth(),
  tenants.listFaults({ limit: 1, after: 'x' }),
  tenants.readTenantFacts([id]),
  tenants.findAnywhere({ text: 'x', limit: 1, after: 'x' }),
  feeds.readHeads(id, { since: 'x', wait: 25 }),
  feeds.getPropertyDelivery(id, id),
  feeds.getPropertyConsumers(id, id),
  feeds.listDuties(id, 'x'),
  feeds.readTenantDuties(id, 'x'),
  privacy.getMaskedContact(id, id),
  privacy.readMaskedHistory(id, id, { limit: 1, after: 'x' }),
  privacy.revealContact(id, id, 'support'),
  privacy.restrictContact(id, id, 'objection', 'DSR-7'),
  keys.listKeys({ tenant: id, limit: 1, after: 'x' }),
  keys.getKey('x'),
  keys.createKey({}),
  keys.changeKey('x', {}),
  keys.rotateKey('x', 1),
  keys.revokeKey('x'),
  keys.readUsage('x'),
  records.listPublications(id, { ...rows, key: 'x' }),
  records.listOwnPublications(id, rows),
  records.readAudit({ ...rows, tenant: id, key: 'x', action: 'x' }),
  records.readSettings(),
  webhooks.listWebhooks(id),
  webhooks.adminListWebhooks(id),
  webhooks.adminPauseWebhook(webhook, true),
  webhooks.createWebhook(id, { url: 'https://www.example.com/', feed: 'property' }),
  webhooks.changeWebhook(webhook, 'paused'),
  webhooks.deleteWebhook(webhook),
  webhooks.rotateSecret(webhook, 0),
  webhooks.testWebhook(webhook),
  webhooks.moveWebhook(webhook, 'head'),
  webhooks.resend(webhook),
  webhooks.listDeliveries(webhook, 100, id),
  webhooks.readWaiting(webhook),
  feeds.publish(id, 'property', '{}', true),
  feeds.publish(id, 'contact', '{}', true),
  ...(['own', 'admin'] as const).flatMap((door) => [
    privacy.listErasures({ tenantId: id, door }, 'x'),
    privacy.getErasure({ tenantId: id, door }, id),
    privacy.countErased({ tenantId: id, door }, erasure),
    privacy.erase({ tenantId: id, door }, erasure),
  ]),
  ...addresses.flatMap((address) => [
    feeds.listEvents(address, page),
    feeds.getEvent(address, id),
    feeds.readEvents(address, { after: 1, limit: 1, epoch: 'x', apiEventType: 'x', types: 'x' }),
    feeds.getSubject(address, id),
    feeds.readHistory(address, id, { after: 1, limit: 1 }),
  ]),
]

describe('an operation of the console', () => {
  it('is in openapi.json, and has no parameter that openapi.json does not name (D31)', () => {
    for (const operation of sent) {
      const known = Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, described]) => ({ path, method, described })),
      )
      const { method: sentBy = 'GET', path: sentTo } = operation
      const found = known.find(
        ({ method, path }) => method.toUpperCase() === sentBy && patternOf(path).test(sentTo),
      )
      assert.ok(found !== undefined, `${sentBy} ${sentTo} is an operation`)
      const names = (found.described.parameters ?? [])
        .map((parameter) => ('$ref' in parameter ? named(parameter.$ref) : parameter))
        .filter((parameter) => parameter?.in === 'query')
        .map((parameter) => parameter?.name)
      for (const name of Object.keys(operation.query ?? {}))
        assert.ok(names.includes(name), `${sentTo}: ${name}`)
    }
  })
})

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

function named($ref: string): Parameter | undefined {
  return document.components.parameters[$ref.split('/').at(-1) ?? '']
}
