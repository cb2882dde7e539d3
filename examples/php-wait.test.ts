/** The PHP example as a program that stays: the service holds its requests until there is something new (PROTOCOL §13). */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { eventsOf, pagesOver, urlOf } from '../packages/client/test/support/small-feed.ts'
import { publish } from '../packages/server/test/support/http-client.ts'
import { property } from '../packages/server/test/support/property.ts'
import { startTestService } from '../packages/server/test/support/test-service.ts'
import { until } from '../packages/server/test/support/until.ts'

const hasPhp = spawnSync('php', ['--version']).status === 0
/** Without PHP nothing here can be tried, and each test says so. */
const withPhp = { skip: hasPhp ? false : 'php is not installed here (apt-get install php-cli): not tried' }
const folderOfPhp = join(import.meta.dirname, 'php')

function folderFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-php-'))
  context.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Syncs twice, the second time with a wait of a second; prints how many properties came each time. */
const twice = `
require '${join(folderOfPhp, 'PropertyFeed.php')}';
$feed = new PropertyFeed($argv[1], 'k', attempts: 1);
$kept = null;
$came = 0;
$load = function () use (&$kept) { return $kept; };
$apply = function (array $changes, string $checkpoint) use (&$kept, &$came) { $kept = $checkpoint; $came += count($changes); };
$feed->sync($load, $apply);
echo $came, ' ';
$began = hrtime(true);
$feed->sync($load, $apply, wait: 1);
$feed->sync($load, $apply, wait: 1);
echo $came, ' ', hrtime(true) - $began >= 1_900_000_000 ? 'waited' : 'did not wait';`

async function runTwice(context: TestContext, feed: typeof fetch) {
  const asked: URL[] = []
  async function serve(path: string, response: ServerResponse): Promise<void> {
    asked.push(urlOf(`http://feed${path}`))
    const answer = await feed(`http://feed${path}`)
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), connection: 'close' })
    response.end(await answer.text())
  }
  const server = createServer((request, response) => void serve(request.url ?? '', response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => void server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const child = spawn('php', ['-r', twice, `http://127.0.0.1:${address.port}`])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
  await once(child, 'close')
  return { output, waits: asked.flatMap(({ searchParams }) => searchParams.get('wait') ?? []) }
}

describe('the PHP example, when it stays', () => {
  it('has each change as soon as it is published, and asks nothing in between', withPhp, async (context) => {
    const service = await startTestService()
    context.after(() => service.stop())
    await publish(service, { payload: property() })
    const path = join(folderFor(context), 'copy.json')
    const env = {
      ...process.env,
      PROPERTY_EVENTS_URL: service.url,
      PROPERTY_EVENTS_KEY: service.tenant.readKey,
    }
    const child = spawn('php', [join(folderOfPhp, 'copy-to-file.php'), path, '--follow'], { env })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
    const ended = once(child, 'close')
    try {
      const held = () => {
        const copy = existsSync(path) ? readFileSync(path, 'utf8') : '{"properties":{}}'
        return Object.keys((JSON.parse(copy) as { properties: object }).properties).length
      }
      await until(() => held() === 1, { what: 'the first property' })
      for (const wanted of [2, 3, 4]) {
        await publish(service, { payload: property() })
        await until(() => held() === wanted, { what: `property ${wanted}: ${output}` })
      }
    } finally {
      child.kill('SIGKILL')
      await ended
    }
  })

  it('waits by itself where a server of the contract alone answers', withPhp, async (context) => {
    let pages = 0
    const plain = await runTwice(
      context,
      pagesOver(() => {
        pages += 1
        return pages === 1 ? eventsOf(3) : eventsOf(4)
      }),
    )
    assert.deepEqual(plain, { output: '3 4 waited', waits: [] })
  })
})
