/** The PHP example with servers that would lead it in circles or astray, and with removals that would empty the copy. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import * as fc from 'fast-check'
import { countRemovals } from '../packages/client/src/sync/breaker.ts'
import type { RemovalWindow } from '../packages/client/src/sync/breaker.ts'
import {
  eventOf,
  eventsOf,
  ownReadsOver,
  pagesOver,
  showing,
  urlOf,
} from '../packages/client/test/support/small-feed.ts'
import { call } from '../packages/server/test/support/http-client.ts'
import { property } from '../packages/server/test/support/property.ts'
import { startTestService } from '../packages/server/test/support/test-service.ts'

const hasPhp = spawnSync('php', ['--version']).status === 0
/** Without PHP nothing here can be tried, and each test says so. */
const withPhp = { skip: hasPhp ? false : 'php is not installed here (apt-get install php-cli): not tried' }
const program = join(import.meta.dirname, 'php/copy-to-file.php')

function folderFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-php-'))
  context.after(() => rmSync(folder, { recursive: true }))
  return folder
}

interface CopyOptions {
  readonly folder?: string
  /** In place of `php`. */
  readonly start?: readonly [string, ...string[]]
  readonly flags?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/** Runs the program once against this feed; one that asks more than 100 times is refused from then on. */
async function copied(context: TestContext, feed: typeof fetch, options: CopyOptions = {}) {
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
  const url = `http://127.0.0.1:${address.port}`
  const { folder = folderFor(context), environment = {} } = options
  const ended = await ran(folder, { ...options, environment: { PROPERTY_EVENTS_URL: url, ...environment } })
  return { ...ended, url, asked }
}

/** Runs the program once. `failure` is what it wrote when it did not end well. */
async function ran(folder: string, { start = ['php'], flags = [], environment = {} }: CopyOptions) {
  const path = join(folder, 'copy.json')
  const env = { ...process.env, PROPERTY_EVENTS_KEY: 'k', ...environment }
  const failure = await new Promise<string | undefined>((resolve) => {
    const [command, ...words] = start
    execFile(command, [...words, program, path, ...flags], { env }, (error, stdout, stderr) =>
      resolve(error === null ? undefined : stdout + stderr),
    )
  })
  assert.doesNotMatch(failure ?? '', /Stack trace|Warning:|Fatal error|#0 /, 'a user is shown a sentence')
  const count = () => Object.keys(copyIn(folder).properties).length
  return { failure, count }
}

interface Copy {
  readonly checkpoint: string
  readonly properties: Readonly<Record<string, { readonly stale?: true }>>
}

function copyIn(folder: string): Copy {
  return JSON.parse(readFileSync(join(folder, 'copy.json'), 'utf8')) as Copy
}

describe('the PHP example', () => {
  it(
    'reads a plain feed whole, although every second answer comes from a node that lags',
    withPhp,
    async (context) => {
      const all = eventsOf(300)
      let asked = 0
      // The first answer is to the question whether the service has reads of its own.
      const feed = pagesOver(() => ((asked += 1) % 2 === 0 ? all.slice(0, 295) : all))
      const { failure, count } = await copied(context, feed)
      assert.equal(failure, undefined)
      assert.equal(count(), 300)
    },
  )

  it(
    'waits while its tenant moves to another store, and reads on where it is then (PROTOCOL §5.8)',
    withPhp,
    async (context) => {
      const service = await startTestService()
      context.after(() => service.stop())
      const { tenantId, readKey, publishKey } = service.tenant
      const publish = async () => {
        const body = JSON.stringify({ payload: property() })
        const headers = { 'content-type': 'application/json' }
        const answer = await call(service, '/v1/property-events', {
          method: 'POST',
          key: publishKey,
          headers,
          body,
        })
        assert.equal(answer.status, 201, answer.text)
      }
      const folder = folderFor(context)
      const environment = { PROPERTY_EVENTS_KEY: readKey }
      const refusals: string[] = []
      // Of what the service reads by itself nothing is let through, so it is read by pages and windows of time.
      const feed: typeof fetch = async (input) => {
        const { pathname, search } = urlOf(input)
        if (pathname.startsWith('/v1/')) return new Response('no', { status: 404 })
        const answer = await fetch(`${service.url}${pathname}${search}`, {
          headers: { 'x-api-key': readKey },
        })
        const text = await answer.text()
        const retryAfter = answer.headers.get('retry-after') ?? ''
        if (answer.status === 503) {
          refusals.push(`${(JSON.parse(text) as { code: string }).code} ${retryAfter}`)
          // The proxy in front leads to the other store by now, which has all that this one has.
          await service.storage.moves.change(tenantId, 'left', 'open', 'cli:example')
        }
        return new Response(text, { status: answer.status, headers: { 'retry-after': retryAfter } })
      }
      await publish()
      const first = await copied(context, feed, { folder, environment })
      assert.deepEqual([first.failure, first.count()], [undefined, 1])
      await publish()
      await service.storage.moves.change(tenantId, 'open', 'left', 'cli:example')
      const second = await copied(context, feed, { folder, environment })
      assert.deepEqual([second.failure, second.count()], [undefined, 2])
      assert.deepEqual(refusals, ['tenant_moving 2'])
    },
  )

  it('reads a plain feed whole, although some of its pages are empty', withPhp, async (context) => {
    const all = eventsOf(1_000)
    const feed = showing(
      pagesOver(() => all),
      ({ sequenceNumber }) => sequenceNumber <= 250 || sequenceNumber > 600,
    )
    const { failure, count } = await copied(context, feed)
    assert.equal(failure, undefined)
    assert.equal(count(), 650)
  })

  it("ends with a sentence when a run does not get on, or is another request's", withPhp, async (context) => {
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

  it(
    'leaves the copy as it is when the key is of another tenant, whose feed is empty',
    withPhp,
    async (context) => {
      const folder = folderFor(context)
      const theirs = (tenantId: string, epoch: string, count: number) =>
        ownReadsOver(() => ({ tenantId, epoch, events: eventsOf(count) }))
      assert.equal((await copied(context, theirs('t', 'a', 30), { folder })).failure, undefined)
      const { failure, count } = await copied(context, theirs('other', 'b', 0), { folder })
      assert.match(failure ?? '', /tenant t, the key reads tenant other/)
      assert.equal(count(), 30)
      // Of the same tenant, a new epoch with fewer is what the feed says.
      const anew = await copied(context, theirs('t', 'c', 20), { folder })
      assert.equal(anew.failure, undefined)
      assert.equal(anew.count(), 20)
    },
  )

  it('leaves the copy as it is when the disk takes only a part of the next one', withPhp, async (context) => {
    const folder = folderFor(context)
    const feed = (count: number) =>
      ownReadsOver(() => ({ tenantId: 't', epoch: 'a', events: eventsOf(count) }))
    assert.equal((await copied(context, feed(30), { folder })).failure, undefined)
    // A limit on the size of files stands for the full disk: the write that crosses it is cut short there.
    const limited = `trap '' XFSZ; ulimit -f 8; exec php "$@"`
    const full = await copied(context, feed(2_000), { folder, start: ['/bin/sh', '-c', limited, 'sh'] })
    assert.match(full.failure ?? '', /copy\.json could not be written/)
    assert.equal(full.count(), 30)
    const again = await copied(context, feed(2_000), { folder })
    assert.equal(again.failure, undefined)
    assert.equal(again.count(), 2_000)
  })

  it(
    'asks for a snapshot again that lacks a line or has two in the other order, and does not finish it',
    withPhp,
    async (context) => {
      const all = eventsOf(30)
      const whole = ownReadsOver(() => ({ tenantId: 't', epoch: 'a', events: all }))
      for (const spoil of [
        (lines: readonly string[]) => lines.toSpliced(7, 1),
        (lines: readonly string[]) => lines.toSpliced(7, 2, lines[8] ?? '', lines[7] ?? ''),
      ]) {
        let spoiled = 0
        const feed: typeof fetch = async (input) => {
          const answer = await whole(input)
          if (!urlOf(input).pathname.endsWith('/snapshot') || (spoiled += 1) > 2) return answer
          const lines = (await answer.text()).split('\n')
          return new Response(spoil(lines).join('\n'), { headers: answer.headers })
        }
        const { failure, count } = await copied(context, feed)
        assert.equal(failure, undefined)
        assert.equal(count(), 30)
      }
    },
  )

  it('reads events of which members are missing, and dates that are none', withPhp, async (context) => {
    const events = eventsOf(3).map((event, index) =>
      index === 1
        ? { id: event.id, sequenceNumber: 2, payload: JSON.parse(event.payload), createdDate: 'soon' }
        : event,
    )
    const page = { items: events, page: 1, pageSize: 100, availableCount: 3, totalPages: 1 }
    const feed: typeof fetch = async (input) =>
      urlOf(input).pathname.endsWith('/getevents') ? Response.json(page) : new Response('no', { status: 404 })
    const { failure, count } = await copied(context, feed)
    assert.equal(failure, undefined)
    assert.equal(count(), 3)
  })
})

describe('a user of the PHP example is told in a sentence', () => {
  /** A feed that answers everything in one way. */
  const always =
    (status: number, body: string, headers: Readonly<Record<string, string>> = {}): typeof fetch =>
    async () =>
      new Response(body, { status, headers })

  it('that the key is wrong, and what the service says of it', withPhp, async (context) => {
    const body = JSON.stringify({
      status: 401,
      code: 'key_expired',
      detail: 'The key expired on 2026-01-31.',
    })
    const { failure, url, asked } = await copied(context, always(401, body))
    assert.ok(
      (failure ?? '').startsWith(
        `${url} does not accept the key (401). The key expired on 2026-01-31. See that it`,
      ),
    )
    assert.ok(asked < 5, `${asked} requests`)
    const empty = await ran(folderFor(context), { environment: { PROPERTY_EVENTS_KEY: ' ' } })
    assert.match(empty.failure ?? '', /^The key must be as it was given to you/)
    const none = await ran(folderFor(context), { environment: { PROPERTY_EVENTS_KEY: '' } })
    assert.equal(none.failure, 'No API key is given: set PROPERTY_EVENTS_KEY.\n')
  })

  it('that nobody answers at the address, and why', withPhp, async (context) => {
    const environment = { PROPERTY_EVENTS_URL: 'http://me:secret@127.0.0.1:1', ATTEMPTS: '2' }
    const { failure } = await ran(folderFor(context), { environment })
    assert.match(
      failure ?? '',
      /^http:\/\/127\.0\.0\.1:1 does not answer: Connection refused\. See that the address is right .* It was tried 2 times\.\n$/,
    )
    const none = await ran(folderFor(context), { environment: { PROPERTY_EVENTS_URL: 'feed.example.com' } })
    assert.match(
      none.failure ?? '',
      /must begin with https:\/\/ or http:\/\/ and have no blanks, unlike "feed\.example\.com"/,
    )
  })

  it(
    'where the address redirects, and which one to use; the key does not go there',
    withPhp,
    async (context) => {
      const path = '/api/func/api/v1/events/getevents'
      const to = (location: string) => always(301, '', { location })
      const moved = await copied(context, to(`https://u:p@new.example.com/feed${path}?page=1&token=secret`))
      assert.match(moved.failure ?? '', /redirects \(301\) to https:\/\/new\.example\.com\/feed\/api\/func/)
      assert.match(moved.failure ?? '', /Use https:\/\/new\.example\.com\/feed as the address\.\n$/)
      assert.doesNotMatch(moved.failure ?? '', /secret|u:p/)
      const login = await copied(context, to('/login'))
      assert.ok((login.failure ?? '').includes(`to ${login.url}/login, which is not followed`))
      assert.match(login.failure ?? '', /Use the address of the service itself\.\n$/)
      const nowhere = await copied(context, always(302, ''))
      assert.match(nowhere.failure ?? '', /redirects \(302\) elsewhere/)
    },
  )

  it(
    'that the address is no feed: a page, another path, an answer without what belongs in it',
    withPhp,
    async (context) => {
      const page = await copied(context, always(200, '<html>\n<b>Welcome</b>'))
      assert.match(
        page.failure ?? '',
        /something other than the contract's JSON: <html> <b>Welcome<\/b>\. Is http/,
      )
      const missing = await copied(context, always(404, 'Not found'))
      assert.match(missing.failure ?? '', /answered with status 404\. Is http:\S+ the address of a feed\?/)
      for (const body of [
        '{"items":[]}',
        '{"items":[1],"page":1,"pageSize":1,"availableCount":1,"totalPages":1}',
      ]) {
        const { failure } = await copied(context, always(200, body))
        assert.match(failure ?? '', /something other than the contract's JSON/)
      }
    },
  )

  it(
    'that the file is not a copy, that the checkpoint is none, or how to call it',
    withPhp,
    async (context) => {
      const folder = folderFor(context)
      for (const text of ['', '[]', '{"properties":{}}', '{"checkpoint":5,"properties":{}}']) {
        writeFileSync(join(folder, 'copy.json'), text)
        assert.match((await ran(folder, {})).failure ?? '', /copy\.json cannot be read, or is not a copy/)
      }
      for (const kept of [
        'x',
        '{}',
        '{"format":"property-feed-php/1"}',
        '{"format":"property-feed-php/1","type":"property","mode":"start","opens":true,"whole":true}',
        '{"format":"property-feed-php/1","type":"property","mode":"numbers","opens":true,"whole":true,"removals":[]}',
      ]) {
        writeFileSync(join(folder, 'copy.json'), JSON.stringify({ checkpoint: kept, properties: {} }))
        assert.match((await ran(folder, {})).failure ?? '', /not a checkpoint of this version/)
      }
      assert.match(
        (await ran(folder, { flags: ['--allow-mass-removals'] })).failure ?? '',
        /^Usage: .*--allow-mass-removal\]/,
      )
    },
  )
})

describe('the breaker of the PHP example', () => {
  const removalsOf = (from: number, to: number, number: number) =>
    Array.from({ length: to - from + 1 }, (_, index) =>
      eventOf(number + index, `p${from + index}`, { published: false }),
    )
  const hourMs = 3_600_000

  /** A copy of 100 that follows what `events` holds, by the service's own reads or by pages. */
  async function following(context: TestContext, reads: 'own reads' | 'pages') {
    const folder = folderFor(context)
    const state = { epoch: 'a', events: eventsOf(100) }
    const feed =
      reads === 'pages' ? pagesOver(() => state.events) : ownReadsOver(() => ({ tenantId: 't', ...state }))
    const run = (...flags: readonly string[]) => copied(context, feed, { folder, flags })
    assert.equal((await run()).failure, undefined)
    /** What was removed so far becomes older. */
    const age = (ms: number) => {
      const copy = copyIn(folder)
      const kept = JSON.parse(copy.checkpoint) as { removals: readonly (readonly [number, number])[] }
      const removals = kept.removals.map(([atMs, count]) => [atMs - ms, count])
      const checkpoint = JSON.stringify({ ...kept, removals })
      writeFileSync(join(folder, 'copy.json'), JSON.stringify({ ...copy, checkpoint }))
    }
    return { folder, state, run, age }
  }

  for (const reads of ['own reads', 'pages'] as const) {
    it(`lets a quarter of the copy go within a day and no more, by ${reads}`, withPhp, async (context) => {
      const { state, run, age } = await following(context, reads)
      state.events.push(...removalsOf(1, 15, 101))
      const first = await run()
      assert.deepEqual([first.failure, first.count()], [undefined, 85])
      age(24 * hourMs)
      state.events.push(...removalsOf(16, 26, 116))
      const stopped = await run()
      assert.equal(
        stopped.failure,
        'Stopped: with these 11, 26 of 100 in the copy would be gone within 24 hours (limit 25). ' +
          'Nothing was removed, and updates have stopped until this is settled.\n' +
          'To allow it once: --allow-mass-removal.\n' +
          'If it is a mistake, have them published again and run this as usual.\n',
      )
      assert.equal(stopped.count(), 85)
      // A day, and the hour by which what went may count longer.
      age(hourMs)
      const later = await run()
      assert.deepEqual([later.failure, later.count()], [undefined, 74])
    })

    it(
      `stops a read of the whole feed that would empty the copy, by ${reads}, until it is allowed`,
      withPhp,
      async (context) => {
        const { state, run } = await following(context, reads)
        state.epoch = 'b'
        state.events.splice(0, 100, ...eventsOf(110).slice(100))
        for (let time = 0; time < 2; time += 1) {
          const { failure, count } = await run()
          assert.match(
            failure ?? '',
            /with these 100, 100 of 110 in the copy would be gone within 24 hours \(limit 27\)/,
          )
          assert.equal(count(), 110)
        }
        const allowed = await run('--allow-mass-removal')
        assert.deepEqual([allowed.failure, allowed.count()], [undefined, 10])
        const after = await run()
        assert.deepEqual([after.failure, after.count()], [undefined, 10])
      },
    )
  }

  it('counts what went before the feed began anew', withPhp, async (context) => {
    const { state, run } = await following(context, 'own reads')
    state.events.push(...removalsOf(1, 15, 101))
    assert.equal((await run()).failure, undefined)
    state.epoch = 'b'
    state.events.push(...removalsOf(16, 30, 116))
    const stopped = await run()
    assert.match(stopped.failure ?? '', /with these 15, 30 of 100 in the copy would be gone /)
    assert.equal(stopped.count(), 85)
  })

  it('does not count what the copy never held', withPhp, async (context) => {
    const { state, run } = await following(context, 'own reads')
    state.events.push(...removalsOf(201, 400, 101), ...removalsOf(1, 5, 301))
    const { failure, count } = await run()
    assert.deepEqual([failure, count()], [undefined, 95])
  })

  it("decides as the client's does, whatever goes and whenever", withPhp, () => {
    interface Step {
      readonly waitMs: number
      readonly added: number
      readonly going: number
    }
    const steps = fc.array(
      fc.record<Step>({
        waitMs: fc.oneof(
          fc.integer({ min: 0, max: 30 * hourMs }),
          fc.constantFrom(0, hourMs, 24 * hourMs, 25 * hourMs, -hourMs),
        ),
        added: fc.integer({ min: 0, max: 40 }),
        going: fc.integer({ min: 1, max: 60 }),
      }),
      { minLength: 1, maxLength: 12 },
    )
    const seed = Math.floor(Math.random() * 2 ** 31)
    const runs = fc.sample(steps, { numRuns: 500, seed })
    const script = `
      require '${join(import.meta.dirname, 'php/PropertyFeed.php')}';
      $breaker = new RemovalBreaker();
      $answers = [];
      foreach (json_decode(stream_get_contents(STDIN), true) as $steps) {
        [$window, $held, $nowMs] = [[], 100, 1_000_000_000_000];
        foreach ($steps as ['waitMs' => $wait, 'added' => $added, 'going' => $going]) {
          $nowMs += $wait;
          $held += $added;
          $going = min($going, $held);
          $counted = $breaker->count($window, $nowMs, $held, $going);
          $answers[] = [$counted['tooMany'], $counted['removedBefore']];
          if ($counted['tooMany'] || $going === 0) continue;
          $window = $counted['window'];
          $held -= $going;
        }
      }
      echo json_encode($answers);`
    const { stdout, stderr } = spawnSync('php', ['-r', script], {
      input: JSON.stringify(runs),
      encoding: 'utf8',
    })
    assert.equal(stderr, '')
    const expected = runs.flatMap((run) => {
      let window: RemovalWindow | undefined
      let held = 100
      let nowMs = 1_000_000_000_000
      return run.map((step) => {
        nowMs += step.waitMs
        held += step.added
        const affected = Math.min(step.going, held)
        const counted = countRemovals({ window, nowMs, held, affected, allow: false })
        if (counted.kind === 'tooMany') return [true, counted.removedBefore]
        const removedBefore = Math.max(...counted.window.map(([, most]) => most)) - held
        if (affected > 0) {
          window = counted.window
          held -= affected
        }
        return [false, removedBefore]
      })
    })
    assert.deepEqual(JSON.parse(stdout), expected, `seed ${seed}`)
    const stops = expected.filter(([tooMany]) => tooMany === true).length
    assert.ok(stops > 100 && expected.length - stops > 100, `${stops} of ${expected.length} were stopped`)
  })
})
