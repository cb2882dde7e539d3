/** The PHP example computes the digests of PROTOCOL §14.3 as the client does, and finds the same differences. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createClient, digestSubjects } from '../packages/client/src/index.ts'
import { publish } from '../packages/server/test/support/http-client.ts'
import { startTestService } from '../packages/server/test/support/test-service.ts'
import type { TestService } from '../packages/server/test/support/test-service.ts'

const hasPhp = spawnSync('php', ['--version']).status === 0
/** Without PHP nothing here can be tried, and each test says so. */
const withPhp = { skip: hasPhp ? false : 'php is not installed here (apt-get install php-cli): not tried' }

const program = `require '${join(import.meta.dirname, 'php/PropertyFeed.php')}';
  [$url, $key, $numbers] = json_decode(stream_get_contents(STDIN), true);
  $feed = new PropertyFeed($url, $key, attempts: 1);
  echo json_encode(['digest' => PropertyFeed::digest($numbers), 'differences' => (object) $feed->differences($numbers)]);`

interface Said {
  readonly digest: string
  readonly differences: Readonly<
    Record<string, { readonly feed: number | null; readonly copy: number | null }>
  >
}

function php(input: unknown): Promise<Said> {
  return new Promise((resolve, reject) => {
    const child = execFile('php', ['-r', program], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error === null && stderr === '') resolve(JSON.parse(stdout) as Said)
      else reject(new Error(`${stdout}${stderr}`))
    })
    child.stdin?.end(JSON.stringify(input))
  })
}

describe('the PHP example and the client', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  it(
    'make the same digest of a copy, and find the same differences from its feed (PROTOCOL §14)',
    withPhp,
    async () => {
      const { url, tenant } = service
      const numbers = new Map<string, number>()
      // So many that they are not listed at once, in two requests.
      const refs = Array.from({ length: 1_040 }, () => crypto.randomUUID())
      for (const some of [refs.slice(0, 600), refs.slice(600)]) {
        const events = some.map((agent_ref) => ({ payload: { agent_ref, published: true } }))
        const receipt = await publish(service, events)
        for (const { transactionId, sequenceNumber } of receipt.events)
          numbers.set(transactionId, sequenceNumber)
      }
      const client = createClient({ baseUrl: url, key: tenant.readKey })
      const both = async (copy: ReadonlyMap<string, number>) => {
        const held = [...copy].map(([subjectId, sequenceNumber]) => ({ subjectId, sequenceNumber }))
        const sorted = held.toSorted((a, b) => (a.subjectId < b.subjectId ? -1 : 1))
        const said = await php([url, tenant.readKey, Object.fromEntries(copy)])
        assert.equal(said.digest, await digestSubjects(sorted))
        const { differences } = await client.compare({ held })
        const ours = differences.map((one) => {
          const feed = one.kind === 'surplus' ? null : one.sequenceNumber
          return [one.subjectId, { feed, copy: one.kind === 'missing' ? null : one.heldNumber }] as const
        })
        assert.deepEqual(Object.entries(said.differences), ours)
        return ours.length
      }
      assert.equal(await both(numbers), 0)
      const [missing = '', other = ''] = refs
      const copy = new Map(numbers)
      copy.delete(missing)
      copy.set(other, 9_999)
      copy.set(crypto.randomUUID(), 7)
      assert.equal(await both(copy), 3)
    },
  )
})
