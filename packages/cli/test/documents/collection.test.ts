/** docs/property-events.collection.json: made of openapi.json, and its requests are answered as they stand (D21). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { collectionText } from '../../../../scripts/reference/collection.ts'
import { publish } from '../../../server/test/support/http-client.ts'
import { property } from '../../../server/test/support/property.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import { root } from '../support/documents.ts'

interface Item {
  readonly name: string
  readonly request: {
    readonly method: string
    readonly auth?: object
    readonly url: { readonly raw: string }
  }
}

const text = readFileSync(join(root, 'docs/property-events.collection.json'), 'utf8')
const folders = (JSON.parse(text) as { item: { name: string; item: Item[] }[] }).item

describe('the collection for HTTP clients', () => {
  it('is what `npm run openapi` makes of openapi.json (D21)', () => {
    assert.ok(
      collectionText(readFileSync(join(root, 'openapi.json'), 'utf8')) === text,
      'run npm run openapi',
    )
  })

  it('reads a feed with its requests as they stand, and needs no key for the description (D21)', async () => {
    const service = await startTestService()
    try {
      await publish(service, { payload: property({ title: 'Tŷ Gwyn – £1,250 pcm 🏡' }) })
      const reads = folders
        .filter(({ name }) => ['Reading', 'Copying', 'Description'].includes(name))
        .flatMap(({ item }) => item)
        .filter(
          ({ request }) =>
            request.method === 'GET' && !/:|stream/.test(request.url.raw.replace('{{url}}', '')),
        )
      assert.ok(reads.length >= 10)
      for (const { name, request } of reads) {
        const headers = request.auth === undefined ? { 'x-api-key': service.tenant.readKey } : {}
        const answer = await fetch(request.url.raw.replace('{{url}}', service.url), { headers })
        assert.equal(answer.status, 200, `${name}: ${await answer.text()}`)
      }
    } finally {
      await service.stop()
    }
  })
})
