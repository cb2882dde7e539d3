/** What programs that read text get of the documents. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { call } from '../support/http-client.ts'
import { startTestService } from '../support/test-service.ts'

const root = join(import.meta.dirname, '../../../..')

describe('the documents as text', () => {
  it('are there without a key, under the base path, and lead to each other by links that work (PROTOCOL §1)', async () => {
    const service = await startTestService({ basePath: '/feeds' })
    try {
      const { status, headers, text } = await call(service, '/feeds/llms.txt')
      assert.deepEqual([status, headers['content-type']], [200, 'text/plain; charset=utf-8'])
      const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)
      assert.deepEqual(links, ['openapi.json', 'docs', 'llms-full.txt'])
      for (const link of links) assert.equal((await call(service, `/feeds/${link}`)).status, 200, link)
    } finally {
      await service.stop()
    }
  })

  it('name operations and headers that the service has (D21)', async () => {
    const service = await startTestService()
    try {
      const { text } = await call(service, '/llms.txt')
      const document = readFileSync(join(root, 'openapi.json'), 'utf8')
      const named = [...text.matchAll(/`(?:GET|POST) ([^`?]+)|`(x-[a-z-]+)`/g)].map(
        ([, path, header]) => path ?? header ?? '',
      )
      assert.ok(named.length >= 7)
      for (const name of named) assert.ok(document.includes(`"${name}"`), name)
    } finally {
      await service.stop()
    }
  })

  it('are one text with every document but the decisions, byte for byte, and a tag that saves reading it again (D21)', async () => {
    const service = await startTestService()
    try {
      const { headers, body } = await call(service, '/llms-full.txt', {
        headers: { 'accept-encoding': 'gzip' },
      })
      const text = gunzipSync(body).toString()
      for (const path of ['README.md', 'PROTOCOL.md', 'docs/consuming.md', 'docs/operating/keys.md'])
        assert.ok(
          text.includes(`<!-- ${path} -->\n\n${readFileSync(join(root, path), 'utf8').trimEnd()}\n`),
          path,
        )
      assert.doesNotMatch(text, /<!-- docs\/decisions/)
      const again = await call(service, '/llms-full.txt', {
        headers: { 'accept-encoding': 'gzip', 'if-none-match': String(headers.etag) },
      })
      assert.equal(again.status, 304)
    } finally {
      await service.stop()
    }
  })
})
