/** The operations of openapi.json as forms: who may use which, what is sent, and the same for a terminal. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Access } from '../../src/session/access.ts'
import { mayUse, needWords } from '../../src/views/api/may-use.ts'
import { operationsOf, operationsWith } from '../../src/views/api/read-document.ts'
import type { ApiOperation } from '../../src/views/api/read-document.ts'
import { curlOf, missingOf, presetOf, requestOf } from '../../src/views/api/request.ts'

const text = readFileSync(join(import.meta.dirname, '../../../../openapi.json'), 'utf8')
const operations = operationsOf(JSON.parse(text))
const tenantId = '5f0f1a52-6f0e-4c83-8a44-c2be8a0a83e1'

function named(id: string): ApiOperation {
  const found = operations.find((operation) => operation.id === id)
  assert.ok(found !== undefined, id)
  return found
}

const operator = (...scopes: readonly string[]): Access => ({ operator: true, scopes, grants: [] })
const holder = (...scopes: readonly string[]): Access => ({
  operator: false,
  scopes: [],
  grants: [{ tenantId, scopes }],
})

describe('the list of operations', () => {
  it('has each operation of openapi.json that needs a key once, and no HEAD beside its GET (D31)', () => {
    const described: Readonly<Record<string, Readonly<Record<string, { readonly 'x-scopes'?: unknown }>>>> =
      JSON.parse(text).paths
    const expected = Object.values(described).flatMap((methods) =>
      Object.entries(methods).filter(([name, one]) => name !== 'head' && one['x-scopes'] !== undefined),
    )
    assert.equal(operations.length, expected.length)
    assert.equal(new Set(operations.map(({ id }) => id)).size, operations.length)
    assert.deepEqual(
      operations.filter(({ id }) => id.startsWith('head') || id === 'getOpenApi'),
      [],
    )
  })

  it('names each part of a path among the parameters, and none twice, because they share one address (D31)', () => {
    for (const { id, path, parameters } of operations) {
      const names = parameters.map(({ name }) => name)
      assert.equal(new Set(names).size, names.length, id)
      const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      assert.deepEqual(
        parameters
          .filter(({ place }) => place === 'path')
          .map(({ name }) => name)
          .toSorted((a, b) => a.localeCompare(b)),
        parts.toSorted((a = '', b = '') => a.localeCompare(b)),
        id,
      )
      assert.ok(!names.includes('find'), `${id}: the search of the list has this name`)
      assert.ok(!names.includes('x-api-key'), id)
    }
  })

  it('offers the values of a parameter that has only a few (D31)', () => {
    const of = (id: string, name: string) => named(id).parameters.find((one) => one.name === name)
    assert.deepEqual(of('readRate', 'feed')?.among, ['property', 'contact'])
    assert.deepEqual(of('listPropertyEvents', 'current')?.among, ['true', 'false'])
    assert.equal(of('listPropertyEvents', 'page')?.example, '1')
    assert.equal(of('listPropertyEvents', 'page')?.isRequired, false)
  })

  it('fills each body with an example that its schema allows (D31)', () => {
    const sampled = operations.filter(({ sample }) => sample !== undefined)
    assert.deepEqual(
      sampled.map(({ method }) => method).filter((method) => method === 'GET' || method === 'DELETE'),
      [],
    )
    assert.match(named('createKey').sample ?? '', /"grants"/)
    const event: unknown = JSON.parse(named('publishPropertyEvents').sample ?? '')
    assert.ok(typeof event === 'object' && event !== null && 'payload' in event)
    const erasure: unknown = JSON.parse(named('erase').sample ?? '')
    assert.deepEqual(Object.keys(erasure ?? {}), ['feed', 'reason'])
  })

  it('is searched by any words of an id, path or summary (D31)', () => {
    const ids = (words: string) => operationsWith(operations, words).map(({ id }) => id)
    assert.deepEqual(ids('rotate KEY'), ['rotateKey'])
    assert.ok(ids('/v1/admin/audit').includes('readAudit'))
    assert.ok(ids('post erasures').every((id) => /erase/i.test(id)))
    assert.equal(ids('  ').length, operations.length)
    assert.deepEqual(ids('nothing of this kind'), [])
  })
})

describe('an operation', () => {
  const cases: readonly (readonly [Access, string, boolean])[] = [
    [operator('admin:inspect'), 'listTenants', true],
    [operator('admin:inspect'), 'createKey', false],
    [operator('admin:inspect'), 'listPropertyEvents', false],
    [operator('admin:inspect'), 'readSelf', true],
    [holder('property:read'), 'listPropertyEvents', true],
    [holder('property:read'), 'listContactEvents', false],
    [holder('property:read'), 'readSelf', true],
    [holder('property:publish'), 'getProperty', true],
    [holder('property:publish'), 'readHeads', true],
    [holder('tenant:inspect'), 'listKeys', true],
    [holder('tenant:inspect'), 'createKey', false],
    [holder('tenant:manage'), 'createKey', true],
    [holder('tenant:manage'), 'adminErase', false],
    [holder('tenant:manage', 'contact:erase'), 'adminErase', true],
  ]
  for (const [access, id, expected] of cases) {
    const held = [...access.scopes, ...access.grants.flatMap(({ scopes }) => scopes)].join(' and ')
    it(`${id} is ${expected ? '' : 'not '}offered to a key with ${held} (PROTOCOL §12, D7)`, () => {
      assert.equal(mayUse(access, named(id).scopes), expected)
    })
  }

  it('says what it needs (PROTOCOL §12)', () => {
    assert.equal(needWords(named('getProperty').scopes), 'property:read or property:publish')
    assert.equal(needWords(named('createKey').scopes), 'admin:manage, or tenant:manage in the agency')
    assert.equal(
      needWords(named('adminErase').scopes),
      'admin:erase, or tenant:manage and property:erase or tenant:manage and contact:erase in the agency',
    )
  })

  it('begins as a dry run, with the chosen agency (D31)', () => {
    const preset = (id: string, name: string, access: Access) => {
      const parameter = named(id).parameters.find((one) => one.name === name)
      assert.ok(parameter !== undefined)
      return presetOf(parameter, access, tenantId)
    }
    assert.equal(preset('erase', 'dryRun', holder('contact:erase')), 'true')
    assert.equal(preset('listFeeds', 'tenantId', operator('admin:inspect')), tenantId)
    assert.equal(preset('listPropertyEvents', 'x-tenant', holder('property:read')), '')
    const several = {
      ...holder(),
      grants: [...holder('property:read').grants, { tenantId: 'x', scopes: [] }],
    }
    assert.equal(preset('listPropertyEvents', 'x-tenant', several), tenantId)
  })
})

describe('the request of an operation', () => {
  const key = 'a/b c'
  it('has each value in its place, encoded, and leaves out empty ones (D31)', () => {
    const usage = requestOf(named('readUsage'), { keyId: key, by: 'day', from: '', 'x-tenant': tenantId }, '')
    assert.deepEqual(usage, {
      method: 'GET',
      path: '/v1/admin/keys/a%2Fb%20c/usage?by=day',
      headers: { 'x-tenant': tenantId },
      text: undefined,
    })
    const change = requestOf(named('changeKey'), { keyId: 'k' }, '{"label":"x"}')
    assert.deepEqual([change.path, change.text], ['/v1/admin/keys/k', '{"label":"x"}'])
  })

  it('is not sent while a part of its path is missing (D31)', () => {
    assert.deepEqual(missingOf(named('readUsage'), { by: 'day', keyId: '' }), ['keyId'])
    assert.deepEqual(missingOf(named('readUsage'), { keyId: 'k' }), [])
    assert.equal(requestOf(named('readUsage'), {}, '').path, '/v1/admin/keys/{keyId}/usage')
  })

  it('can be pasted into a terminal, with the key left to fill in (D31)', () => {
    const read = requestOf(named('listKeys'), { tenant: tenantId }, '')
    assert.equal(
      curlOf(read, 'https://feed.example.com'),
      `curl \\\n  -H "x-api-key: $PROPERTY_EVENTS_KEY" \\\n  'https://feed.example.com/v1/admin/keys?tenant=${tenantId}'`,
    )
    const change = requestOf(named('changeKey'), { keyId: 'k', 'x-tenant': "a'b" }, `{"label":"it's $HOME"}`)
    assert.equal(
      curlOf(change, 'https://feed.example.com'),
      [
        'curl',
        '-X PATCH',
        '-H "x-api-key: $PROPERTY_EVENTS_KEY"',
        `-H 'x-tenant: a'\\''b'`,
        "-H 'content-type: application/json'",
        `--data '{"label":"it'\\''s $HOME"}'`,
        "'https://feed.example.com/v1/admin/keys/k'",
      ].join(' \\\n  '),
    )
  })
})
