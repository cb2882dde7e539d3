/** The PHP example tells the service how far its copy is, and what became of properties (PROTOCOL §14.5). */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createClient } from '../packages/client/src/index.ts'
import { eventsOf, ownReadsOver } from '../packages/client/test/support/small-feed.ts'
import { publish } from '../packages/server/test/support/http-client.ts'
import { startTestService } from '../packages/server/test/support/test-service.ts'
import type { TestService } from '../packages/server/test/support/test-service.ts'

const hasPhp = spawnSync('php', ['--version']).status === 0
/** Without PHP nothing here can be tried, and each test says so. */
const withPhp = { skip: hasPhp ? false : 'php is not installed here (apt-get install php-cli): not tried' }

/** Runs PHP with a feed, a copy in memory, and what a test does with them; it prints JSON. */
function php(steps: string, ...given: readonly unknown[]): Promise<unknown> {
  const program = `require '${join(import.meta.dirname, 'php/PropertyFeed.php')}';
    $given = json_decode(stream_get_contents(STDIN), true);
    $kept = null;
    $load = function () use (&$kept): ?string { return $kept; };
    $apply = function (array $changes, string $checkpoint) use (&$kept): void { $kept = $checkpoint; };
    try { ${steps} } catch (PropertyFeedException $problem) { echo json_encode([$problem->problem, $problem->status, $problem->getMessage()]); }`
  return new Promise((resolve, reject) => {
    const child = execFile('php', ['-r', program], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error === null && stderr === '') resolve(stdout === '' ? undefined : JSON.parse(stdout))
      else reject(new Error(`${stdout}${stderr}`))
    })
    child.stdin?.end(JSON.stringify(given))
  })
}

describe('the PHP example', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  it(
    'says how far its copy is and what became of each property, under its name (PROTOCOL §14)',
    withPhp,
    async () => {
      const { url, tenant } = service
      const refs = Array.from({ length: 1_001 }, () => crypto.randomUUID())
      const events = refs.map((agent_ref) => ({ payload: { agent_ref, published: true } }))
      await publish(service, events.slice(0, 600))
      await publish(service, events.slice(600))
      const stranger = crypto.randomUUID()
      const results = [...refs, stranger].map((agentRef, index) => ({
        agentRef,
        sequenceNumber: Math.min(index + 1, refs.length),
        outcome: index === 3 ? 'refused' : 'live',
        code: index === 3 ? 'bad_postcode' : null,
        url: index === 3 ? null : `https://www.example.com/${index}`,
      }))
      const said = await php(
        `$feed = new PropertyFeed($given[0], $given[1], attempts: 1, consumer: 'website');
       $feed->sync($load, $apply);
       echo json_encode($feed->report($given[2]));`,
        url,
        tenant.readKey,
        results,
      )
      assert.deepEqual(said, { stored: 1_001, unknown: [stranger] })
      const publisher = createClient({ baseUrl: url, key: tenant.publishKey })
      const seenOf = async (index: number) =>
        (await publisher.delivery(refs[index] ?? ''))?.consumers.find(({ name }) => name === 'website')
      assert.match(
        (await seenOf(1_000))?.sentence ?? '',
        /^Live since .*: https:\/\/www\.example\.com\/1000\.$/,
      )
      assert.equal((await seenOf(3))?.state, 'refused')
      const inspector = await service.issue({
        grants: [{ tenantId: tenant.tenantId, scopes: ['tenant:inspect'] }],
      })
      const { consumers } = await createClient({ baseUrl: url, key: inspector.text }).consumers()
      const own = consumers.find(({ name }) => name === 'website')
      assert.equal(own?.acknowledged?.sequenceNumber, 1_001)
    },
  )

  it(
    'throws what the service says of a result that it refuses, and of a name that is none (PROTOCOL §14)',
    withPhp,
    async () => {
      const { url, tenant } = service
      const bad = [{ agentRef: crypto.randomUUID(), sequenceNumber: 1, outcome: 'shown' }]
      const steps = '(new PropertyFeed($given[0], $given[1], attempts: 1))->report($given[2]);'
      const [problem, status, message] = (await php(steps, url, tenant.readKey, bad)) as [
        string,
        number,
        string,
      ]
      assert.deepEqual([problem, status], ['refused', 400])
      assert.match(message, /outcome must be one of live, held, refused/)
      const named = `try { new PropertyFeed($given[0], 'k', consumer: 'two words'); } catch (InvalidArgumentException $refused) { echo json_encode($refused->getMessage()); }`
      assert.match(String(await php(named, url)), /^A consumer has 1 to 64 letters/)
    },
  )

  it(
    'acknowledges in one attempt, not again where it is refused, and not where it is told not to (PROTOCOL §14)',
    withPhp,
    async (context) => {
      const reads = ownReadsOver(() => ({ tenantId: 't', epoch: 'one', events: eventsOf(3) }))
      let status = 204
      const puts: string[] = []
      async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
        if (request.method === 'PUT') {
          let body = ''
          for await (const chunk of request) body += String(chunk)
          puts.push(`${request.url} ${String(request.headers['x-feed-consumer'] ?? '')} ${body}`)
          response.writeHead(status, { connection: 'close' }).end()
          return
        }
        const answer = await reads(`http://feed${request.url}`)
        response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), connection: 'close' })
        response.end(await answer.text())
      }
      const server = createServer((request, response) => void serve(request, response))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      context.after(() => void server.close())
      const address = server.address()
      assert.ok(typeof address === 'object' && address !== null)
      const url = `http://127.0.0.1:${address.port}`
      const syncs = (more: string) =>
        php(
          `$feed = new PropertyFeed($given[0], 'k', attempts: 1${more}); foreach ([1, 2, 3] as $round) { $feed->sync($load, $apply); }`,
          url,
        )
      await syncs('')
      const one = '/v1/property-consumers/default/acknowledged  {"sequenceNumber":3,"epoch":"one"}'
      assert.deepEqual(puts.splice(0), [one])
      for (const refusal of [403, 404, 405, 503]) {
        status = refusal
        await syncs('')
        assert.deepEqual(puts.splice(0), [one], String(refusal))
      }
      await syncs(', acknowledge: false')
      await syncs(", apiEventType: 'salesproperty'")
      assert.deepEqual(puts, [])
      await syncs(", apiEventType: 'salesproperty', consumer: 'sales'")
      assert.equal(puts.length, 1)
    },
  )
})
