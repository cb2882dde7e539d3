import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { eventTag } from '../../src/reading/page-tag.ts'
import { call, getPath, listPath, pageOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'

onEngines('caching and compression', { byNode: true }, (service) => {
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    call(service(), path, { key: service().tenant.readKey, headers })
  const tagOf = async (path: string, headers: Readonly<Record<string, string>> = {}) =>
    String((await get(path, headers)).headers.etag)
  let id = ''

  before(async () => {
    const receipt = await publish(
      service(),
      Array.from({ length: 12 }, () => ({ payload: property() })),
    )
    id = receipt.events[0]?.id ?? ''
  })

  it('answers 304 without a body to a page or event that is still the same (D4, D20)', async () => {
    for (const path of [listPath, `${listPath}?page=2&pageSize=5`, `${getPath}/${id}`]) {
      const first = await get(path)
      const tag = String(first.headers.etag)
      assert.match(tag, /^"[\w-]+"$/)
      assert.equal(first.headers['cache-control'], 'private, no-cache')
      assert.equal(first.headers.vary, 'x-api-key, x-tenant, accept-encoding')
      for (const condition of [tag, `W/${tag}`, `"other", ${tag}`, '*', `W/"a",W/${tag} , "b"`]) {
        const again = await get(path, { 'if-none-match': condition })
        assert.equal(again.status, 304, condition)
        assert.equal(again.text, '')
        assert.equal(again.headers.etag, tag)
        assert.equal(again.headers['cache-control'], 'private, no-cache')
      }
      for (const condition of ['"other"', '', tag.replaceAll('"', ''), `"${tag}"`]) {
        assert.equal((await get(path, { 'if-none-match': condition })).status, 200, condition)
      }
    }
  })

  it('never answers 304 after a publish that changed the totals, full pages included (D4)', async () => {
    const paths = [`${listPath}?pageSize=2`, `${listPath}?page=3&pageSize=2`, `${listPath}?page=900`]
    const tags = await Promise.all(paths.map((path) => tagOf(path)))
    await publish(service(), { payload: property() })
    for (const [index, path] of paths.entries()) {
      const answer = await get(path, { 'if-none-match': tags[index] ?? '' })
      assert.equal(answer.status, 200)
      assert.notEqual(answer.headers.etag, tags[index])
    }
    const event = await get(`${getPath}/${id}`, { 'if-none-match': await tagOf(`${getPath}/${id}`) })
    assert.equal(event.status, 304)
  })

  it('gives every page, size, view, window, tenant and coding a tag of its own (D4, P10)', async () => {
    const today = new Date().toISOString().slice(0, 10)
    const queries = [
      '',
      '?page=2',
      '?pageSize=5',
      '?apiEventType=salesproperty',
      `?to=${today}`,
      `?from=${today}`,
      '?page=2&pageSize=5',
    ]
    const tags = await Promise.all(queries.map((query) => tagOf(listPath + query)))
    tags.push(await tagOf(listPath, { 'accept-encoding': 'gzip' }))
    const foreign = await call(service(), listPath, { key: service().otherTenant.readKey })
    tags.push(String(foreign.headers.etag))
    assert.equal(new Set(tags).size, tags.length)
  })

  it('gives an event another tag once its feed has another epoch or revision or was thinned, when its bytes may be others (D13, D17)', () => {
    const id = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'
    const tags = [
      eventTag(id, { epoch: 'a', revision: 0, thinned: 0 }, 'identity'),
      eventTag(id, { epoch: 'b', revision: 0, thinned: 0 }, 'identity'),
      eventTag(id, { epoch: 'a', revision: 1, thinned: 0 }, 'identity'),
      eventTag(id, { epoch: 'a', revision: 0, thinned: 1 }, 'identity'),
      eventTag(id, { epoch: 'a', revision: 0, thinned: 0 }, 'gzip'),
    ]
    assert.equal(new Set(tags).size, tags.length)
    assert.equal(tags[0], `"${id}-a-0"`, 'as before there was retention')
  })

  it('compresses for clients that ask, with the same content (D20)', async () => {
    const plain = await get(listPath)
    for (const accepted of [
      'gzip',
      'GZIP',
      'br, gzip;q=0.5',
      'deflate;q=0.1, *;q=0.2',
      'identity;q=0.5, gzip',
      'x-gzip',
      'gzip;q=1.000',
    ]) {
      const zipped = await get(listPath, { 'accept-encoding': accepted })
      assert.equal(zipped.headers['content-encoding'], 'gzip', accepted)
      assert.equal(Number(zipped.headers['content-length']), zipped.body.length)
      assert.ok(zipped.body.length < plain.body.length / 2)
      assert.equal(gunzipSync(zipped.body).toString(), plain.text)
      const tag = String(zipped.headers.etag)
      for (const condition of [tag, tag.replace(/^W\//, ''), `"other" , ${tag}`]) {
        const again = await get(listPath, { 'accept-encoding': accepted, 'if-none-match': condition })
        assert.equal(again.status, 304, condition)
        assert.equal(again.headers.etag, tag)
      }
    }
  })

  it('promises the same bytes only if nothing is compressed: other tags are weak (D20)', async () => {
    for (const path of [listPath, `${listPath}?page=1000`, `${getPath}/${id}`]) {
      assert.match(await tagOf(path), /^"[\w-]+"$/)
      assert.match(await tagOf(path, { 'accept-encoding': 'gzip' }), /^W\/"[\w-]+-gzip"$/)
    }
  })

  it('sends plain bytes to everybody else (D20)', async () => {
    const thousand = Array.from({ length: 1_000 }, (_, index) => `x${index}`).join(',')
    for (const accepted of [
      '*;q=0',
      'gzip;q=0',
      'gzip;q=0.0',
      'identity',
      'br',
      '',
      ';;,,',
      'gzip;q=0.2, identity;q=0.7',
      thousand,
    ]) {
      const answer = await get(listPath, { 'accept-encoding': accepted })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers['content-encoding'], undefined, accepted)
      assert.equal(pageOf(answer).items.length, 13)
    }
  })

  it('does not compress short answers (D20)', async () => {
    const answer = await get(`${listPath}?page=900`, { 'accept-encoding': 'gzip' })
    assert.equal(answer.headers['content-encoding'], undefined)
    assert.deepEqual(pageOf(answer).items, [])
  })

  it('lets nobody keep an error (D6)', async () => {
    for (const path of [`${listPath}?page=0`, '/nope', `${getPath}/x`]) {
      assert.equal((await get(path)).headers['cache-control'], 'no-store')
    }
    assert.equal((await call(service(), listPath)).headers['cache-control'], 'no-store')
  })

  it('answers HEAD like GET, without a body (D9)', async () => {
    // The ids of requests grow, and problems hold them.
    const headers = { 'x-request-id': 'the-same' }
    for (const path of [
      listPath,
      `${getPath}/${id}`,
      '/openapi.json',
      '/docs',
      `${listPath}?page=0`,
      `${listPath}?page=900`,
    ]) {
      const [got, headed] = [
        await get(path, headers),
        await call(service(), path, { method: 'HEAD', key: service().tenant.readKey, headers }),
      ]
      assert.equal(headed.status, got.status)
      assert.equal(headed.text, '')
      for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'x-feed-head']) {
        assert.equal(headed.headers[name], got.headers[name], `${path} ${name}`)
      }
    }
    const tag = await tagOf(listPath)
    const unchanged = await call(service(), listPath, {
      method: 'HEAD',
      key: service().tenant.readKey,
      headers: { 'if-none-match': tag },
    })
    assert.equal(unchanged.status, 304)
  })
})
