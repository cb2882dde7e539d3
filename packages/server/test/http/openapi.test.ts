import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { adminScopes, feedNames, feeds } from '@property-events/protocol'
import { defaultLimits } from '../../src/index.ts'
import { call, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import {
  committedDocument,
  documentPath,
  operationsOf,
  refsIn,
  resolveRef,
  validatorOf,
} from '../support/openapi-document.ts'
import type { JsonSchema } from '../support/openapi-document.ts'
import { postErasure } from '../support/canary.ts'
import { contact, property } from '../support/property.ts'
import { postRestriction } from '../support/restrictions.ts'
import { openDeletion } from '../support/open-deletion.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'

describe('the OpenAPI document', () => {
  const document = committedDocument()
  const operations = operationsOf(document)
  let service: TestService

  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  it('is committed with line breaks and served without, without a key (D21)', async () => {
    const answer = await call(service, '/openapi.json')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], 'application/json')
    const committed = `${JSON.stringify(document)}\n`
    assert.equal(answer.text, committed, 'openapi.json is old: npm run openapi')
    assert.ok(committed.length < readFileSync(documentPath).length * 0.6)
    const again = await call(service, '/openapi.json', {
      headers: { 'if-none-match': String(answer.headers.etag) },
    })
    assert.equal(again.status, 304)
  })

  it('is the same for all simultaneous first requests, also with HEAD (D21)', async () => {
    for (const path of ['/openapi.json', '/docs']) {
      const fresh = await startTestService()
      const methods = ['HEAD', 'GET', 'GET', 'HEAD', 'GET'] as const
      const answers = await Promise.all(methods.map((method) => call(fresh, path, { method })))
      await fresh.stop()
      const [first] = answers
      assert.ok(first !== undefined && first.text === '')
      for (const [index, { status, headers, text }] of answers.entries()) {
        assert.equal(status, 200)
        assert.equal(headers.etag, first.headers.etag)
        assert.equal(headers['content-length'], first.headers['content-length'])
        if (methods[index] === 'GET') assert.equal(String(Buffer.byteLength(text)), headers['content-length'])
      }
    }
  })

  it('describes the operations of the spec and our own, and no others (spec §4, D18, D21)', () => {
    const expected = feedNames.flatMap((name) => [
      `GET ${feeds[name].eventsPath}/getevents`,
      `GET ${feeds[name].eventsPath}/geteventbyid/{eventId}`,
      `POST ${feeds[name].publishPath}`,
      `GET ${feeds[name].publishPath}`,
      `GET ${feeds[name].publishPath}/snapshot`,
      `GET ${feeds[name].publishPath}/stream`,
      `GET ${feeds[name].publishPath}/reduced`,
      `GET ${feeds[name].publishPath}/digest`,
      `GET ${feeds[name].subjectsPath}/{subjectId}`,
      `GET ${feeds[name].subjectsPath}/{subjectId}/history`,
      `PUT /v1/${name}-consumers/{name}/acknowledged`,
    ])
    const tenant = '/v1/admin/tenants/{tenantId}'
    const administration = [
      'GET /v1/admin/self',
      'GET /v1/admin/tenants',
      'POST /v1/admin/tenants',
      'POST /v1/admin/tenants/import',
      `GET ${tenant}`,
      `PATCH ${tenant}`,
      `GET ${tenant}/feeds`,
      `GET ${tenant}/consumers`,
      `GET ${tenant}/properties/{agentRef}/delivery`,
      `GET ${tenant}/properties/{agentRef}/terms`,
      `GET ${tenant}/feeds/{feed}/rate`,
      `PUT ${tenant}/feeds/{feed}/expected-interval`,
      `GET ${tenant}/properties`,
      `GET ${tenant}/publications`,
      `GET ${tenant}/contacts/{contactRef}`,
      `GET ${tenant}/contacts/{contactRef}/history`,
      `POST ${tenant}/contacts/{contactRef}/reveal`,
      `GET ${tenant}/events/getevents`,
      `GET ${tenant}/events/geteventbyid/{eventId}`,
      `GET ${tenant}/property-events`,
      `GET ${tenant}/property-events/snapshot`,
      `GET ${tenant}/property-events/reduced`,
      `GET ${tenant}/properties/{subjectId}`,
      `GET ${tenant}/properties/{subjectId}/history`,
      `POST ${tenant}/erasures`,
      `GET ${tenant}/erasures`,
      `GET ${tenant}/erasures/{erasureId}`,
      `GET ${tenant}/webhooks`,
      `POST ${tenant}/webhooks/{webhookId}/pause`,
      'GET /v1/admin/keys',
      'POST /v1/admin/keys',
      'GET /v1/admin/keys/{keyId}',
      'PATCH /v1/admin/keys/{keyId}',
      'POST /v1/admin/keys/{keyId}/rotate',
      'POST /v1/admin/keys/{keyId}/revoke',
      'GET /v1/admin/keys/{keyId}/usage',
      'PUT /v1/admin/keys/{keyId}/consumers/{name}/expected-interval',
      'GET /v1/admin/audit',
      'PATCH /v1/admin/actors/{actor}',
      'DELETE /v1/admin/tenants/{tenantId}',
      'GET /v1/admin/deletions',
      'GET /v1/admin/deletions/{deletionId}',
      'GET /v1/admin/settings',
      'GET /v1/admin/health',
      'GET /v1/admin/faults',
      'GET /v1/admin/tenant-facts',
      'GET /v1/admin/find',
    ]
    const described = operations.map(({ method, path }) => `${method} ${path}`)
    assert.deepEqual(
      described.toSorted(),
      [
        ...expected,
        'GET /v1/publications',
        'GET /v1/property-events/duties',
        'GET /v1/admin/tenants/{tenantId}/duties',
        'POST /v1/property-consumers/{name}/results',
        'GET /v1/properties/{subjectId}/consumers',
        'GET /v1/properties/{subjectId}/terms',
        'GET /v1/webhooks',
        'POST /v1/webhooks',
        'GET /v1/webhooks/{webhookId}',
        'PATCH /v1/webhooks/{webhookId}',
        'DELETE /v1/webhooks/{webhookId}',
        'POST /v1/webhooks/{webhookId}/secrets',
        'POST /v1/webhooks/{webhookId}/test',
        'POST /v1/webhooks/{webhookId}/cursor',
        'POST /v1/webhooks/{webhookId}/resend',
        'GET /v1/webhooks/{webhookId}/deliveries',
        'GET /v1/webhooks/{webhookId}/waiting',
        'POST /v1/erasures',
        'GET /v1/erasures',
        'GET /v1/erasures/{erasureId}',
        'POST /v1/holds',
        'GET /v1/holds',
        'POST /v1/holds/{holdId}/end',
        'POST /v1/restrictions',
        'GET /v1/restrictions',
        'GET /v1/restrictions/{restrictionId}',
        'POST /v1/restrictions/{restrictionId}/end',
        'GET /v1/expiring-contacts',
        'POST /v1/expiring-contacts/{contactRef}/keep',
        'GET /v1/exposure/{keyId}',
        'GET /v1/heads',
        ...administration,
        'GET /docs',
        'GET /openapi.json',
      ]
        // HEAD works wherever GET does (D9).
        .flatMap((line) => (line.startsWith('GET') ? [line, line.replace('GET', 'HEAD')] : [line]))
        .toSorted(),
    )
  })

  it('names, sums up, tags and secures every operation, and describes every parameter (D21)', () => {
    assert.equal(document.openapi, '3.1.0')
    const ids = operations.map(({ operationId }) => operationId)
    assert.equal(new Set(ids).size, operations.length)
    const tags = new Set(document.tags.map(({ name }) => name))
    for (const operation of operations) {
      assert.match(operation.operationId, /^[a-z][A-Za-z]+$/)
      assert.ok(operation.summary.length > 5)
      assert.ok(operation.description.length > 10)
      assert.ok(operation.tags.length > 0 && operation.tags.every((tag) => tags.has(tag)))
      assert.ok(operation.security !== undefined)
      for (const parameter of operation.parameters ?? []) {
        assert.ok((parameter.description ?? '').length > 5, `${operation.operationId} ${parameter.name}`)
      }
    }
  })

  it('sums up operations in words that people search for: create, revoke, rotate, get (D21)', () => {
    const text = readFileSync(documentPath, 'utf8')
    const summaries = [...text.matchAll(/"summary": "([^"]+)"/g)].map(([, summary = '']) => summary)
    assert.ok(summaries.length > 60)
    for (const summary of summaries) {
      assert.doesNotMatch(summary, /^(?:Make|Say|Refuse|Put)\b|what became|for ever|\bmay\b/, summary)
    }
    for (const wanted of ['Create a key', 'Revoke a key', 'Rotate a key', 'Create a tenant']) {
      assert.ok(summaries.includes(wanted), wanted)
    }
  })

  it('has addresses and a key for programs that read it from a file (D21)', () => {
    const [byAddress, relative] = document.servers
    const { variables = {}, url = '' } = byAddress ?? {}
    const address = url.replaceAll(/\{(\w+)\}/g, (_, name: string) => variables[name]?.default ?? '')
    assert.equal(address, 'http://127.0.0.1:8080')
    assert.equal(relative?.url, '/')
    assert.deepEqual(document.security, [{ apiKey: [] }])
    assert.deepEqual(document.components['securitySchemes']?.['apiKey']?.['in'], 'header')
    for (const { operationId, security } of operations) {
      const isOpen = /(?:getOpenApi|getDocs)$/i.test(operationId)
      assert.deepEqual(security, isOpen ? [] : document.security, operationId)
    }
  })

  it('describes HEAD as GET, with the same answers and headers, without their bodies (D9, D21)', () => {
    let seen = 0
    for (const { path, responses } of operations.filter(({ method }) => method === 'HEAD')) {
      const get = operations.find((one) => one.method === 'GET' && one.path === path)
      const withoutBodies = Object.entries(get?.responses ?? {}).map(
        ([status, { description, headers }]) => [status, { description, headers }] as const,
      )
      assert.deepEqual(responses, Object.fromEntries(withoutBodies), path)
      seen += 1
    }
    assert.ok(seen > 50)
  })

  it('has an example for each parameter of a path, which its schema allows (D21)', () => {
    for (const { operationId, path, parameters = [] } of operations) {
      const inPath = parameters.filter(({ in: place }) => place === 'path')
      assert.deepEqual(
        inPath.map(({ name }) => name),
        Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name),
      )
      for (const { name, schema, example, required } of inPath) {
        assert.ok(required === true && example !== undefined, `${operationId} ${name}`)
        assert.equal(validatorOf(document, schema)(example), undefined, `${operationId} ${name}`)
      }
    }
  })

  it('describes obligations as either an object or a list (spec §2.6)', () => {
    const { Obligations: schema = {} } = document.components.schemas
    const validate = validatorOf(document, schema)
    for (const value of [{ Listed: true, RightOfWay: false }, { rights_of_way: true }, [], null])
      assert.equal(validate(value), undefined, JSON.stringify(value))
    for (const value of ['none', 1, true, { Listed: 'yes' }])
      assert.notEqual(validate(value), undefined, JSON.stringify(value))
    const kinds = (schema['oneOf'] as readonly JsonSchema[]).map(({ type }) => type)
    assert.deepEqual(kinds, ['object', 'array', 'null'])
  })

  it('describes every answer: a Problem for every error, and the id of the request (D6, D9)', () => {
    for (const { method, operationId, responses, security = [] } of operations) {
      if (method === 'HEAD') continue
      const statuses = Object.keys(responses)
      assert.ok(statuses.some((status) => status.startsWith('2')) && statuses.includes('400'), operationId)
      assert.equal(statuses.includes('401'), security.length > 0)
      for (const [status, response] of Object.entries(responses)) {
        assert.ok(response.description.length > 5, `${operationId} ${status}`)
        if (Number(status) < 400) continue
        assert.deepEqual(response.content?.['application/json']?.schema, {
          $ref: '#/components/schemas/Problem',
        })
        assert.ok(response.headers?.['x-request-id'])
      }
    }
  })

  it('names the headers that answers of reading operations have, and no others (D19, D20, D21)', async () => {
    const { events } = await publish(service, { payload: property() })
    const [event] = events
    // What HTTP or the security of browsers asks for says nothing about the service.
    const general =
      /^(date|connection|keep-alive|content-.*|transfer-encoding|cache-control|vary|x-content-type-options|referrer-policy)$/
    const [listed] = pageOf(await call(service, listPath, { key: service.tenant.readKey })).items
    const { agent_ref } = JSON.parse(listed?.payload ?? '') as { agent_ref: string }
    const other = property()
    await publish(service, { payload: other })
    const words = { feed: 'property', subjectId: other.agent_ref, reason: 'objection' }
    const { id: erasureId } = JSON.parse((await postErasure(service, words)).text) as { id: string }
    const contactRef = crypto.randomUUID()
    await publish(service, [{ payload: contact({ contact_ref: contactRef }) }], { feed: 'contact' })
    const restricted = await postRestriction(service, contactRef)
    const { id: restrictionId } = JSON.parse(restricted.text) as { id: string }
    const deletionId = await openDeletion(service.storage)
    const { text: operator, keyId } = await service.issue({ operator: true, adminScopes })
    for (const { method, path, operationId, responses } of operations) {
      if (method !== 'GET' || path.includes('contact')) continue
      const asked = path
        .replace('{eventId}', event?.id ?? '')
        .replace('{subjectId}', agent_ref)
        .replace('{agentRef}', agent_ref)
        .replace('{erasureId}', erasureId)
        .replace('{restrictionId}', restrictionId)
        .replace('{deletionId}', deletionId)
        .replace('{tenantId}', service.tenant.tenantId)
        // An agency asks about a key of its own.
        .replace('{keyId}', path.includes('exposure') ? (service.tenant.readKey.split('_')[1] ?? '') : keyId)
        .replace('{feed}', 'property')
      // The spec's routes name what they ignore; ours take nothing they do not know.
      const isList = path.endsWith('/getevents')
      const time = path.endsWith('/rate') ? ['from=2026-01-01', 'to=2026-01-31'] : []
      const query = [
        ...(path.startsWith('/api/') ? ['fom=1'] : []),
        ...(isList ? ['current=true'] : []),
        ...time,
        ...(path.endsWith('/tenant-facts') ? [`tenants=${service.tenant.tenantId}`] : []),
        ...(path.endsWith('/find') ? [`text=${agent_ref}`] : []),
      ]
      const target = query.length === 0 ? asked : `${asked}?${query.join('&')}`
      // A stream has no end to wait for; its head is that of an answer without a body.
      const isStream = path.endsWith('/stream')
      const key = path.startsWith('/v1/admin')
        ? operator
        : /^\/v1\/(erasures|exposure|holds|restrictions)/.test(path)
          ? service.tenant.eraseKey
          : path === '/v1/publications'
            ? service.tenant.publishKey
            : service.tenant.readKey
      const conditions = responses['304'] === undefined ? [{}] : [{}, { 'if-none-match': '*' }]
      for (const headers of conditions) {
        const answer = isStream
          ? await call(service, `${target}?after=head`, { key, headers, method: 'HEAD' })
          : await call(service, target, { key, headers })
        const named = Object.keys(responses[String(answer.status)]?.headers ?? {})
        // A list of current events has no window, and each has a header of its own.
        const window = target.replace('current=true', 'from=2026-01-01')
        const also = isList ? await call(service, window, { key, headers }) : answer
        const names = new Set([answer, also].flatMap((one) => Object.keys(one.headers)))
        const sent = [...names].filter((name) => !general.test(name))
        assert.deepEqual(sent.toSorted(), named.toSorted(), `${operationId} ${answer.status}`)
      }
    }
  })

  it('holds no reference that leads nowhere, and no schema nobody refers to (D21)', () => {
    const refs = refsIn(document)
    assert.ok(refs.length > 10)
    for (const ref of refs) assert.ok(resolveRef(document, ref), ref)
    for (const [kind, named] of Object.entries(document.components)) {
      if (kind === 'securitySchemes') continue
      for (const name of Object.keys(named)) {
        assert.ok(refs.includes(`#/components/${kind}/${name}`), `${name} is not referred to`)
      }
    }
  })

  it('has only examples and defaults that its own schemas allow (D21)', () => {
    let seen = 0
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      const { examples, example, default: byDefault, ...schema } = value as JsonSchema
      const given = [
        ...(Array.isArray(examples) ? examples : []),
        ...(example === undefined ? [] : [example]),
      ]
      if (byDefault !== undefined && 'type' in schema) given.push(byDefault)
      if ('type' in schema) {
        const validate = validatorOf(document, schema)
        for (const one of given) {
          seen += 1
          assert.equal(validate(one), undefined, JSON.stringify(one))
        }
      }
      for (const member of Object.values(value)) visit(member)
    }
    visit(document)
    assert.ok(seen > 5)
  })

  it('says the limits the service has (D2)', () => {
    const list = operations.find(({ operationId }) => operationId === 'listPropertyEvents')
    const pageSize = list?.parameters?.find(({ name }) => name === 'pageSize')
    assert.deepEqual(pageSize?.schema, {
      type: 'integer',
      minimum: 1,
      maximum: defaultLimits.maxPageSize,
      default: defaultLimits.defaultPageSize,
    })
    assert.deepEqual(
      list?.parameters?.map(({ name, in: place, required = false }) => [name, place, required]),
      [
        ...['apiEventType', 'page', 'pageSize', 'from', 'to', 'current'].map((name) => [
          name,
          'query',
          false,
        ]),
        ['x-tenant', 'header', false],
        ['x-feed-min-sequence', 'header', false],
        ['x-feed-consumer', 'header', false],
      ],
    )
  })

  it('accepts no unknown parameter on these routes (D19)', async () => {
    for (const path of ['/docs?x=1', '/openapi.json?format=yaml']) {
      const answer = await call(service, path)
      assert.equal(answer.status, 400)
      assert.equal(problemOf(answer).errors?.[0]?.code, 'unknown_parameter')
    }
  })
})
