/** The PHP example with servers that would lead it in circles or astray: it gets out, or ends with a sentence. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import {
  eventOf,
  eventsOf,
  ownReadsOver,
  pagesOver,
  showing,
  urlOf,
} from '../packages/client/test/support/small-feed.ts'

const hasPhp = spawnSync('php', ['--version']).status === 0
const program = join(import.meta.dirname, 'php/copy-to-file.php')

function folderFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-php-'))
  context.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Runs the program once against this feed; one that asks more than 100 times is refused from then on. */
async function copied(
  context: TestContext,
  feed: typeof fetch,
  folder = folderFor(context),
  start: readonly [string, ...string[]] = ['php'],
) {
  let asked = 0
  async function serve(path: string, response: ServerResponse): Promise<void> {
    asked += 1
    const answer = asked > 100 ? new Response('too many', { status: 418 }) : await feed(`http://feed${path}`)
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), connection: 'close' })
    response.end(await answer.text())
  }
  const server = createServer((request, response) => void serve(request.url ?? '', response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => void server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const path = join(folder, 'copy.json')
  const env = { ...process.env, FEED_URL: `http://127.0.0.1:${address.port}`, FEED_KEY: 'k' }
  const failure = await new Promise<string | undefined>((resolve) => {
    const [command, ...words] = start
    execFile(command, [...words, program, path], { env }, (error, stdout, stderr) =>
      resolve(error === null ? undefined : stdout + stderr),
    )
  })
  const count = () => {
    const { properties } = JSON.parse(readFileSync(path, 'utf8')) as { properties: object }
    return Object.keys(properties).length
  }
  return { failure, asked, count }
}

describe('the PHP example', () => {
  it('reads a plain feed whole, although every second answer comes from a node that lags', async (context) => {
    if (!hasPhp) return context.diagnostic('php is not installed here: nothing was tried')
    const all = eventsOf(300)
    let asked = 0
    // The first answer is to the question whether the service has reads of its own.
    const feed = pagesOver(() => ((asked += 1) % 2 === 0 ? all.slice(0, 295) : all))
    const { failure, count } = await copied(context, feed)
    assert.equal(failure, undefined)
    assert.equal(count(), 300)
  })

  it('reads a plain feed whole, although some of its pages are empty', async (context) => {
    if (!hasPhp) return context.diagnostic('php is not installed here: nothing was tried')
    const all = eventsOf(1_000)
    const feed = showing(
      pagesOver(() => all),
      ({ sequenceNumber }) => sequenceNumber <= 250 || sequenceNumber > 600,
    )
    const { failure, count } = await copied(context, feed)
    assert.equal(failure, undefined)
    assert.equal(count(), 650)
  })

  it("ends with a sentence when a run does not get on, or is another request's", async (context) => {
    if (!hasPhp) return context.diagnostic('php is not installed here: nothing was tried')
    for (const [run, words] of [
      [{ items: [], next: 0, head: 10 }, /behind 3/],
      [{ items: [eventOf(1, 'p1')], next: 10, head: 10 }, /behind 3/],
    ] as const) {
      const inner = ownReadsOver(() => ({ tenantId: 't', epoch: 'a', events: eventsOf(3) }))
      const feed: typeof fetch = async (input) =>
        urlOf(input).pathname === '/v1/property-events'
          ? Response.json({ ...run, epoch: 'a', revision: 0 })
          : inner(input)
      const { failure, asked } = await copied(context, feed)
      assert.match(failure ?? '', words)
      assert.ok(asked < 20, `${asked} requests`)
    }
  })

  it('leaves the copy as it is when the key is of another tenant, whose feed is empty', async (context) => {
    if (!hasPhp) return context.diagnostic('php is not installed here: nothing was tried')
    const folder = folderFor(context)
    const theirs = (tenantId: string, epoch: string, count: number) =>
      ownReadsOver(() => ({ tenantId, epoch, events: eventsOf(count) }))
    assert.equal((await copied(context, theirs('t', 'a', 30), folder)).failure, undefined)
    const { failure, count } = await copied(context, theirs('other', 'b', 0), folder)
    assert.match(failure ?? '', /tenant t, the key reads tenant other/)
    assert.equal(count(), 30)
    // Of the same tenant, a new epoch with fewer is what the feed says.
    const anew = await copied(context, theirs('t', 'c', 20), folder)
    assert.equal(anew.failure, undefined)
    assert.equal(anew.count(), 20)
  })

  it('leaves the copy as it is when the disk takes only a part of the next one', async (context) => {
    if (!hasPhp) return context.diagnostic('php is not installed here: nothing was tried')
    const folder = folderFor(context)
    const feed = (count: number) =>
      ownReadsOver(() => ({ tenantId: 't', epoch: 'a', events: eventsOf(count) }))
    assert.equal((await copied(context, feed(30), folder)).failure, undefined)
    // A limit on the size of files stands for the full disk: the write that crosses it is cut short there.
    const limited = `trap '' XFSZ; ulimit -f 8; exec php "$@"`
    const full = await copied(context, feed(2_000), folder, ['/bin/sh', '-c', limited, 'sh'])
    assert.match(full.failure ?? '', /copy\.json could not be written/)
    assert.equal(full.count(), 30)
    const again = await copied(context, feed(2_000), folder)
    assert.equal(again.failure, undefined)
    assert.equal(again.count(), 2_000)
  })
})
