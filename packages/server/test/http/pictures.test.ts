/** Drawings of homes that do not exist, for a demo (D21). */
import assert from 'node:assert/strict'
import { inflateSync } from 'node:zlib'
import { after, before, describe, it } from 'node:test'
import { call } from '../support/http-client.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'

const front = '/pictures/house/HQ12345/01-front-1f2e3d4c.png'

function codeOf(text: string): string {
  return (JSON.parse(text) as { code: string }).code
}

describe('pictures', () => {
  let service: TestService
  let plain: TestService
  before(async () => {
    service = await startTestService({ pictures: true })
    plain = await startTestService()
  })
  after(async () => {
    await service.stop()
    await plain.stop()
  })

  it('are PNGs of 640 by 480, the same for the same address, and kept by caches (D21)', async () => {
    const first = await fetch(service.url + front)
    assert.equal(first.status, 200)
    assert.equal(first.headers.get('content-type'), 'image/png')
    assert.match(first.headers.get('cache-control') ?? '', /^public, max-age=\d+, immutable$/)
    const bytes = Buffer.from(await first.arrayBuffer())
    assert.equal(bytes.subarray(1, 4).toString(), 'PNG')
    assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [640, 480])
    const data = bytes.indexOf('IDAT')
    const rows = inflateSync(bytes.subarray(data + 4, data + 4 + bytes.readUInt32BE(data - 4)))
    assert.equal(rows.length, 641 * 480)
    assert.ok(new Set(rows).size > 10, 'something is drawn')
    const again = await fetch(service.url + front, {
      headers: { 'if-none-match': first.headers.get('etag') ?? '' },
    })
    assert.equal(again.status, 304)
    const renewed = await fetch(service.url + front.replace('1f2e3d4c', 'ffffffff'))
    assert.deepEqual(Buffer.from(await renewed.arrayBuffer()), bytes, 'the same home looks the same')
    const head = await fetch(service.url + front, { method: 'HEAD' })
    assert.equal(head.headers.get('content-length'), String(bytes.length))
  })

  it('differ between homes and rooms (D21)', async () => {
    const tags = new Set<string | null>()
    for (const form of ['house', 'terrace', 'bungalow', 'flats']) {
      for (const scene of ['front', 'kitchen', 'bathroom', 'floor-plan']) {
        const answer = await fetch(`${service.url}/pictures/${form}/HQ12345/01-${scene}.png`)
        assert.equal(answer.status, 200, `${form} ${scene}`)
        tags.add(answer.headers.get('etag'))
        await answer.bytes()
      }
    }
    assert.ok(tags.size >= 13, `${tags.size} different ones`)
  })

  it('exist at no other address, and in no other service (D9, D21)', async () => {
    for (const path of [
      '/pictures/castle/HQ12345/01-front.png',
      '/pictures/house/HQ12345/01-dungeon.png',
      '/pictures/house/HQ12345/front.png',
      '/pictures/house/HQ12345/01-front.svg',
      '/pictures/house/..%2f..%2fetc/01-front.png',
      `/pictures/house/${'H'.repeat(61)}/01-front.png`,
      '/pictures/house/%F0%9F%8F%A0/01-front.png',
      '/pictures/house/HQ12345/01-constructor.png',
    ]) {
      const { status, text } = await call(service, path)
      assert.deepEqual([status, codeOf(text)], [404, 'path_not_found'], path)
    }
    assert.equal((await call(service, `${front}?size=1e9`)).status, 400)
    assert.equal((await call(plain, front)).status, 404)
  })

  it('are in no document, because they are not part of the contract (D21)', async () => {
    const { paths } = JSON.parse((await call(service, '/openapi.json')).text) as { paths: object }
    assert.ok(Object.keys(paths).length > 10)
    assert.equal(
      Object.keys(paths).some((path) => path.includes('pictures')),
      false,
    )
  })
})
