/** Photographs of homes that do not exist, for a demo (D21). */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { call } from '../../server/test/support/http-client.ts'
import { startTestService } from '../../server/test/support/test-service.ts'
import type { TestService } from '../../server/test/support/test-service.ts'
import { photographAt } from '../src/photographs.ts'

const front = '/pictures/house/HQ12345/01-front-1f2e3d4c.webp'
const folder = join(import.meta.dirname, '../photographs')
const forms = ['house', 'terrace', 'bungalow', 'flats']
/** Where an address has other words than the folder. */
const wordsOf: Readonly<Record<string, string>> = { bedroom: 'principal-bedroom' }

/** Width and height of a WebP without loss. */
function sizeOf(bytes: Buffer): readonly number[] {
  assert.equal(bytes.toString('latin1', 0, 4) + bytes.toString('latin1', 8, 16), 'RIFFWEBPVP8L')
  const packed = bytes.readUInt32LE(21)
  return [(packed & 0x3fff) + 1, ((packed >> 14) & 0x3fff) + 1]
}

function codeOf(text: string): string {
  return (JSON.parse(text) as { code: string }).code
}

describe('pictures', () => {
  let service: TestService
  let plain: TestService
  before(async () => {
    service = await startTestService({ pictures: photographAt })
    plain = await startTestService()
  })
  after(async () => {
    await service.stop()
    await plain.stop()
  })

  it('are WebPs of 640 by 480, the same for the same address, and kept by caches (D21)', async () => {
    const first = await fetch(service.url + front)
    assert.equal(first.status, 200)
    assert.equal(first.headers.get('content-type'), 'image/webp')
    assert.match(first.headers.get('cache-control') ?? '', /^public, max-age=\d+, immutable$/)
    const bytes = Buffer.from(await first.arrayBuffer())
    assert.deepEqual(sizeOf(bytes), [640, 480])
    const again = await fetch(service.url + front, {
      headers: { 'if-none-match': first.headers.get('etag') ?? '' },
    })
    assert.equal(again.status, 304)
    const renewed = await fetch(service.url + front.replace('1f2e3d4c', 'ffffffff'))
    assert.deepEqual(Buffer.from(await renewed.arrayBuffer()), bytes, 'the same home looks the same')
    const head = await fetch(service.url + front, { method: 'HEAD' })
    assert.equal(head.headers.get('content-length'), String(bytes.length))
  })

  it('are all of one size, together less than a megabyte, and each is some home’s (D21)', () => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name)))
    const subjects = readdirSync(folder)
    const shown = new Set<Uint8Array>()
    for (const subject of subjects) {
      for (const form of forms) {
        for (let home = 0; home < 100; home += 1) {
          const address = `01-${wordsOf[subject] ?? subject}.webp`
          shown.add(photographAt(form, `HOME${home}`, address) ?? assert.fail(address))
        }
      }
    }
    assert.equal(shown.size, files.length)
    for (const bytes of files) assert.deepEqual(sizeOf(bytes), [640, 480])
    assert.ok(files.reduce((sum, { length }) => sum + length, 0) < 1_000_000)
  })

  it('differ between homes, forms and rooms (D21)', async () => {
    const references = Array.from({ length: 12 }, (_, number) => `HQ${number}`)
    const rooms = ['front', 'kitchen', 'bathroom', 'floor-plan']
    const paths = [
      ...references.flatMap((reference) => rooms.map((room) => `house/${reference}/01-${room}.webp`)),
      ...forms.map((form) => `${form}/HQ0/01-front.webp`),
    ]
    const tags = new Set<string | null>()
    for (const path of paths) {
      const answer = await fetch(`${service.url}/pictures/${path}`)
      assert.equal(answer.status, 200, path)
      tags.add(answer.headers.get('etag'))
      await answer.bytes()
    }
    assert.ok(tags.size >= 4 * 4 + 3, `${tags.size} different ones`)
  })

  it('exist at no other address, and in no other service (D9, D21)', async () => {
    for (const path of [
      '/pictures/castle/HQ12345/01-front.webp',
      '/pictures/house/HQ12345/01-dungeon.webp',
      '/pictures/house/HQ12345/front.webp',
      '/pictures/house/HQ12345/01-front.svg',
      '/pictures/house/..%2f..%2fetc/01-front.webp',
      `/pictures/house/${'H'.repeat(61)}/01-front.webp`,
      '/pictures/house/%F0%9F%8F%A0/01-front.webp',
      '/pictures/house/HQ12345/01-constructor.webp',
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
