import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createService } from '../../src/index.ts'
import { call, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'

onEngines('a base path', { byNode: true, basePath: '/feeds/Property/' }, (service) => {
  const prefix = '/feeds/Property'

  it('precedes every route and is in the url of the service (D21)', async () => {
    assert.ok(service().url.endsWith(prefix))
    const key = service().tenant.readKey
    const stored = await call(service(), `${prefix}/v1/property-events`, {
      method: 'POST',
      key: service().tenant.publishKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payload: property() }),
    })
    assert.equal(stored.status, 201)
    assert.equal(pageOf(await call(service(), prefix + listPath, { key })).availableCount, 1)
    assert.equal((await call(service(), (prefix + listPath).toUpperCase(), { key })).status, 200)
    await assert.rejects(publish(service(), { payload: property() }), /404/)
    for (const path of [listPath, '/', '/docs', `${prefix}x/docs`]) {
      assert.equal((await call(service(), path, { key })).status, 404, path)
    }
    for (const path of [prefix, `${prefix}/`]) {
      const { status, headers } = await call(service(), path)
      assert.deepEqual([status, headers.location], [303, `${prefix}/docs`], path)
    }
  })

  it('is in the OpenAPI document as its server, and in the types of problems (D6, D21)', async () => {
    const document = JSON.parse((await call(service(), `${prefix}/openapi.json`)).text) as {
      servers: { url: string }[]
      paths: Record<string, unknown>
    }
    const addresses = document.servers.map(({ url }) => url)
    assert.deepEqual(addresses, [`{origin}${prefix}`, prefix])
    assert.ok(document.paths[listPath])
    const problem = problemOf(await call(service(), `${prefix}/nope?x=1`))
    assert.equal(problem.type, `${prefix}/docs#path_not_found`)
    assert.equal(problem.instance, `${prefix}/nope`)
    const listed = [...problem.detail.matchAll(/\/\S+\w/g)].map(([path]) => path)
    assert.deepEqual(listed, [`${prefix}/docs`, `${prefix}/openapi.json`])
    for (const path of listed) assert.equal((await call(service(), path)).status, 200)
    // The page finds the document beside it, whatever stands in front of both.
    assert.match((await call(service(), `${prefix}/docs`)).text, / href="openapi\.json"/)
  })

  it('is refused if it is not a path (D21)', async () => {
    for (const basePath of ['/a b', 'http://x', '/a//b', '/a?b', '/:id', '/*']) {
      const options = {
        storage: service().storage,
        peppers: [],
        host: '127.0.0.1',
        port: 0,
        metrics: undefined,
        basePath,
      }
      await assert.rejects(createService({ ...options, log: service().log }), /is not a path/)
    }
  })
})
