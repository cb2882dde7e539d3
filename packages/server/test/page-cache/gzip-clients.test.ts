/**
 * A page put together from compressed pieces, read by programs people use: all of it, not just its first piece. Every program
 * that is on this machine is asked; Node is always there.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { after, before, it, describe } from 'node:test'
import { promisify } from 'node:util'
import { call, listPath, publish } from '../support/http-client.ts'
import { property } from '../support/property.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

const run = promisify(execFile)
const fetching = `fetch(process.argv[1], { headers: { 'x-api-key': process.argv[2] } })
  .then((answer) => answer.bytes ? answer.bytes() : answer.arrayBuffer())
  .then((bytes) => process.stdout.write(new Uint8Array(bytes)))`

/** Program and arguments; each decodes what it asked for and writes it to its standard output. */
const clients: Readonly<Record<string, (url: string, key: string) => readonly [string, readonly string[]]>> =
  {
    'the fetch of this Node': (url, key) => [process.execPath, ['-e', fetching, url, key]],
    'the fetch of the Node on the PATH': (url, key) => ['node', ['-e', fetching, url, key]],
    curl: (url, key) => ['curl', ['-s', '--compressed', '-H', `x-api-key: ${key}`, url]],
    wget: (url, key) => ['wget', ['-q', '-O', '-', '--compression=auto', `--header=x-api-key: ${key}`, url]],
  }

describe('a gzipped page of sealed pieces', () => {
  let service: TestService
  let storeReads = 0
  before(async () => {
    service = await startTestService({
      engine: 'sqlite',
      wrap: (storage) =>
        withEvents(storage, {
          readRange(range) {
            storeReads += 1
            return storage.events.readRange(range)
          },
        }),
    })
    for (let batch = 0; batch < 3; batch += 1) {
      await publish(
        service,
        Array.from({ length: 100 }, () => ({ payload: property({ note: 'x'.repeat(1_000) }) })),
      )
    }
    // Sealing goes on in the background, until a page is read without the store.
    await until(
      async () => {
        const before = storeReads
        const headers = { 'accept-encoding': 'gzip' }
        await call(service, `${listPath}?pageSize=300`, { key: service.tenant.readKey, headers })
        return storeReads === before
      },
      { what: 'sealing' },
    )
  })
  after(() => service.stop())

  for (const [name, client] of Object.entries(clients)) {
    it(`is read whole by ${name} (decision 0006, P9)`, async (context) => {
      const key = service.tenant.readKey
      for (const query of [
        '?pageSize=100&page=2',
        '?pageSize=300',
        '?pageSize=25&page=3',
        '?pageSize=70&page=2',
      ]) {
        const readsBefore = storeReads
        const [program, options] = client(`${service.url}${listPath}${query}`, key)
        const plain = await call(service, listPath + query, {
          key,
          headers: { 'accept-encoding': 'identity' },
        })
        const gzipped = await call(service, listPath + query, { key, headers: { 'accept-encoding': 'gzip' } })
        assert.equal(gzipped.headers['content-encoding'], 'gzip')
        const seen = await run(program, options, { encoding: 'buffer', maxBuffer: 2 ** 25 }).catch(
          (error: unknown) => {
            if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
            throw error
          },
        )
        if (seen === undefined) {
          context.skip(`${program} is not on this machine`)
          return
        }
        assert.equal(md5(seen.stdout), md5(plain.body), `${name}, ${query}`)
        assert.equal(storeReads, readsBefore, `${query} is not of sealed pieces`)
      }
    })
  }
})

function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex')
}
