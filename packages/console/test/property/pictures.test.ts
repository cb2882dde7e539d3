/** Which photographs the page shows. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pictureOf } from '../../src/views/property/media-tiles.ts'

const rules = {
  own: true,
  hosts: ['images.example.com', '*.cdn.example'],
  serviceUrl: 'http://127.0.0.1:8080/feeds',
  serviceBase: '/feeds',
}

const cases: readonly (readonly [url: string, shown: string | undefined])[] = [
  ['http://127.0.0.1:8080/feeds/pictures/1/2.svg', '/feeds/pictures/1/2.svg'],
  ['http://127.0.0.1:8080/feeds/docs', undefined],
  ['http://127.0.0.1:8080/feeds/pictures/../docs', undefined],
  ['https://images.example.com/a.jpg', 'https://images.example.com/a.jpg'],
  ['http://images.example.com/a.jpg', undefined],
  ['https://a.b.cdn.example/a.jpg', 'https://a.b.cdn.example/a.jpg'],
  ['https://cdn.example/a.jpg', undefined],
  ['https://evilcdn.example/a.jpg', undefined],
  ['https://images.example.com@elsewhere.example/a.jpg', undefined],
  ['javascript:alert(1)', undefined],
  ['data:image/svg+xml,<svg/>', undefined],
  ['//images.example.com/a.jpg', undefined],
  ['', undefined],
]

describe('a photograph', () => {
  for (const [url, shown] of cases) {
    it(`at ${url === '' ? 'no address' : url} is ${shown === undefined ? 'a numbered tile' : 'shown'} (D31)`, () => {
      assert.equal(pictureOf(url, rules), shown)
    })
  }

  it('from the service itself is a tile if the service has none (D31)', () => {
    assert.equal(pictureOf('http://127.0.0.1:8080/feeds/pictures/1.svg', { ...rules, own: false }), undefined)
  })
})
