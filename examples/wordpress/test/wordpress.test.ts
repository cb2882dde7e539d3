/**
 * The plugin in a real WordPress with a real MariaDB, against a real service: in `test:long` alone, which fails where one of them is not
 * installed.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { publish } from '../../../packages/server/test/support/http-client.ts'
import { property } from '../../../packages/server/test/support/property.ts'
import { startTestService } from '../../../packages/server/test/support/test-service.ts'
import { startPictureServer } from './picture-server.ts'
import type { PictureServer } from './picture-server.ts'
import { assertSiteIsTheFeed, postsOf } from './site-and-feed.ts'
import { beginAnew, startWordPress, whatIsMissing } from './wordpress-site.ts'
import type { WordPressSite } from './wordpress-site.ts'

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] !== undefined
const inLongRuns = {
  skip: isLong ? false : 'takes minutes and a WordPress: in npm run test:long',
  timeout: 1_800_000,
}

describe('the plugin in WordPress', inLongRuns, () => {
  let site: WordPressSite
  let pictures: PictureServer

  before(async () => {
    const missing = whatIsMissing()
    if (missing !== undefined) assert.fail(missing)
    pictures = await startPictureServer()
    site = await startWordPress()
  })
  after(async () => {
    await site?.stop()
    await pictures?.stop()
  })

  /** An empty feed, an empty site that reads it, and what a test does with them. */
  async function begun(context: TestContext) {
    const service = await startTestService()
    context.after(() => service.stop())
    await beginAnew(site, service.url, service.tenant.readKey)
    const homeOf = (ref: string, fields: Readonly<Record<string, unknown>> = {}) =>
      property({ agent_ref: ref, media: mediaOf(`/good-${ref}.png`), ...fields })
    return {
      service,
      put: (...homes: readonly (readonly [ref: string, fields?: Readonly<Record<string, unknown>>])[]) =>
        publish(
          service,
          homes.map(([ref, fields]) => ({ payload: homeOf(ref, fields) })),
        ),
      remove: (...refs: readonly string[]) =>
        publish(
          service,
          refs.map((ref) => ({ remove: { agentRef: ref, reason: 9 } })),
        ),
      inStep: () => inStep(),
      assertRight: () => assertSiteIsTheFeed(site, service),
    }
  }

  const mediaOf = (...paths: readonly string[]) =>
    paths.map((path, place) => ({ media_type: 1, media_url: `${pictures.url}${path}`, sort_order: place }))

  /** Runs until nothing is left to do. */
  async function inStep(...flags: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await site.command(['sync', ...flags], { memoryLimit: '64M' })
    assert.equal(code, 0, stdout + stderr)
    return stdout
  }

  it('shows what the feed shows, and changes prices in place under an address that stays', async (context) => {
    const { service, put, assertRight } = await begun(context)
    const refs = Array.from({ length: 5 }, () => randomUUID())
    await put(...refs.map((ref) => [ref] as const))
    assert.match(await inStep(), /^Success: The site has what the feed has\. 5 shown/m)
    const first = await assertRight()
    // One address for five homes: all but the first have a part of their reference.
    const names = refs.map((key, index) =>
      index === 0 ? 'mill-lane-ely' : `mill-lane-ely-${key.slice(0, 8)}`,
    )
    assert.deepEqual(
      refs.map((key) => first.get(key)?.name),
      names,
    )
    const [ref = '', other = ''] = refs
    await put(
      [ref, { price_information: { price: 325_000, price_qualifier: 2 } }],
      [other, { address: { display_address: 'Elsewhere' } }],
    )
    await inStep()
    const second = await assertRight()
    for (const [key, { id, name }] of first) {
      assert.deepEqual([second.get(key)?.id, second.get(key)?.name], [id, name])
    }
    const page = await fetch(`${site.url}/listings/${second.get(ref)?.name}/`)
    assert.equal(page.status, 200)
    assert.match(await page.text(), /Guide Price £325,000/)
    assert.equal(
      (await publish(service, { payload: property({ agent_ref: ref, published: false }) })).events.length,
      1,
    )
  })

  it('ends as the feed, whatever was killed: prices, removals, returns, and a new epoch (D13)', async (context) => {
    const { service, put, remove, assertRight } = await begun(context)
    const refs = Array.from({ length: 60 }, () => randomUUID())
    await put(...refs.map((ref) => [ref] as const))
    await inStep()
    let statements = 1_000
    const names = new Map([...(await assertRight())].map(([ref, { name }]) => [ref, name]))
    let [killed, whole] = [0, 0]
    for (let round = 0; round < 8; round += 1) {
      const some = refs.filter(() => Math.random() < 0.4)
      const price = { price_information: { price: 200_000 + round * 1_000 } }
      const text = {
        details: {
          description: `<p>Round ${round} [gallery] https://example.com/\n\nWith "quotes" & \\slashes\\ 🏡</p>`,
        },
      }
      await put(...some.map((ref, index) => [ref, index % 3 === 0 ? { ...price, ...text } : price] as const))
      // Fewer than the breaker holds back.
      await remove(...refs.slice(round * 2, round * 2 + 2))
      if (round === 4) await service.storage.startEpoch(0, 'cli:test')
      if (round === 4) await put(...some.map((ref) => [ref, price] as const))
      for (let run = 0; run < 4; run += 1) {
        const killBeforeStatement = 20 + Math.floor(Math.random() * statements)
        const ended = await site.cron({ memoryLimit: '64M', killBeforeStatement })
        if (ended === undefined) killed += 1
        else [whole, statements] = [whole + 1, Math.max(200, ended.statements)]
      }
      await inStep()
      for (const [ref, { name }] of await assertRight()) {
        assert.equal(name, names.get(ref) ?? name, 'the address stays')
        names.set(ref, name)
      }
    }
    context.diagnostic(`${killed} runs were killed, ${whole} ended before`)
    assert.ok(killed >= 8, `only ${killed} runs were killed`)
    // Each picture once, kills or not, but for one that a kill took in the middle of its download.
    const again = [...pictures.asked].filter(([path, times]) => path.startsWith('/good-') && times > 1).length
    assert.ok(again <= killed, `${again} pictures were asked for again, after ${killed} kills`)
  })

  it('keeps 5,000 listings within 64 MB and 20 s and a page, run after run', async (context) => {
    const { put, assertRight } = await begun(context)
    const refs = Array.from({ length: 5_000 }, () => randomUUID())
    const text =
      '<p>A house by the river, with a garden that faces south and a kitchen that was made new.</p>'
    const home = (index: number, price: number) => ({
      price_information: { price },
      address: {
        display_address: `${index} Mill Lane, Ely`,
        postcode_1: 'CB7',
        postcode_2: '4AA',
        latitude: 52.4,
        longitude: 0.26,
      },
      details: {
        summary: 'A house by the river.',
        description: text.repeat(12),
        bedrooms: index % 6,
        features: Array.from({ length: 8 }, (_, number) => `Feature ${number} of house ${index}`),
      },
      media: mediaOf(...Array.from({ length: 12 }, (_, number) => `/house-${(index + number) % 20}.png`)),
    })
    const publishAll = async (price: number) => {
      for (let from = 0; from < refs.length; from += 500) {
        await put(
          ...refs
            .slice(from, from + 500)
            .map((ref, index) => [ref, home(from + index, price + index)] as const),
        )
      }
    }
    const runs: { readonly bytes: number; readonly ms: number }[] = []
    const runToEnd = async () => {
      for (let left = true; left;) {
        runs.push((await site.cron({ memoryLimit: '64M' })) ?? assert.fail('it was killed'))
        const status = await site.php<{ readonly outcome: string }>(
          'return \\PropertyEvents\\WordPress\\Status::now();',
        )
        assert.ok(['caught_up', 'more'].includes(status.outcome), status.outcome)
        left = status.outcome === 'more'
        assert.ok(runs.length < 100)
      }
    }
    await publishAll(300_000)
    await runToEnd()
    const first = runs.length
    await assertRight()
    // Every price at once, which comes in pages of 1,000 events.
    await publishAll(290_000)
    await runToEnd()
    await assertRight()
    const [mostMs, mostBytes] = [
      Math.max(...runs.map(({ ms }) => ms)),
      Math.max(...runs.map(({ bytes }) => bytes)),
    ]
    context.diagnostic(
      `${first} runs for all, ${runs.length - first} for every price; the longest took ${(mostMs / 1000).toFixed(1)} s, the largest ${(mostBytes / 2 ** 20).toFixed(0)} MiB`,
    )
    assert.ok(mostBytes <= 64 * 2 ** 20)
    // 20 s, and a page on a machine that does other things besides.
    assert.ok(mostMs < 45_000, `${mostMs} ms`)
  })

  it('reads the history where a snapshot does not end within a run, and shows nothing halfway', async (context) => {
    const { put, remove, assertRight } = await begun(context)
    const refs = Array.from({ length: 1_200 }, () => randomUUID())
    for (let from = 0; from < 1_200; from += 400) {
      await put(...refs.slice(from, from + 400).map((ref) => [ref, { media: [] }] as const))
    }
    await remove(...refs.slice(0, 500))
    await put(
      ...refs
        .slice(100, 200)
        .map((ref) => [ref, { media: [], price_information: { price: 1_000 } }] as const),
    )
    // A budget that is spent after the first batch stands for a slow host.
    const shortRun = `
      $budget = new \\PropertyEvents\\WordPress\\Budget(0.0, PHP_INT_MAX, fn () => 1.0);
      $ended = \\PropertyEvents\\WordPress\\Run::once($budget)[0];
      $status = \\PropertyEvents\\WordPress\\Status::now();
      return [$ended, $status->shown, $status->isReadAnew, $status->number];`
    const seen: unknown[] = []
    for (let run = 0; run < 4; run += 1) seen.push(await site.php(shortRun))
    assert.deepEqual(seen, [
      ['more', 0, true, null],
      ['more', 0, true, 1_000],
      ['more', 0, true, 1_800],
      ['more', 0, false, 1_800],
    ])
    await inStep()
    assert.equal([...(await assertRight()).values()].filter(({ status }) => status === 'publish').length, 800)
  })

  it('downloads each picture once, whichever listings have it, and keeps nothing that is none', async (context) => {
    const { put, assertRight } = await begun(context)
    const [one, two, bad] = [randomUUID(), randomUUID(), randomUUID()]
    const shared = `/good-shared-${one}.png`
    const wrong = [
      '/page.html',
      '/drawing.svg.png',
      '/large.png',
      '/cut.png',
      '/gone.png',
      '/wide.png',
      '/empty.png',
    ]
    await put(
      [one, { media: mediaOf(shared, `/good-${one}.png`) }],
      [two, { media: mediaOf(`/good-${two}.png`, shared, shared) }],
    )
    await put([bad, { media: mediaOf(...wrong, `/good-${bad}.png`) }])
    await inStep()
    const posts = await assertRight()
    assert.deepEqual(
      [one, two, bad].map((ref) => posts.get(ref)?.pictures.length),
      [2, 2, 1],
    )
    assert.equal(posts.get(one)?.pictures[0], posts.get(two)?.pictures[1], 'one file for both')
    const refused = await site.php<Readonly<Record<string, string>>>(
      `global $wpdb; return array_column($wpdb->get_results("SELECT url, reason FROM {$wpdb->prefix}property_events_images WHERE state = 'refused'"), 'reason', 'url');`,
    )
    const reasons = wrong.map((path) => refused[`${pictures.url}${path}`])
    const none = 'It is no JPEG, PNG, WebP or GIF.'
    const many = 'The picture has more than 50 million pixels, or none.'
    assert.deepEqual(reasons, [
      none,
      none,
      'The picture is larger than 8 MB.',
      undefined,
      undefined,
      many,
      'The picture is empty.',
    ])
    // Another price, another run: nothing is downloaded again. What did not come waits for its next attempt.
    await put([one, { media: mediaOf(shared, `/good-${one}.png`), price_information: { price: 1 } }])
    await inStep()
    for (const path of [shared, `/good-${one}.png`, `/good-${two}.png`, `/good-${bad}.png`, ...wrong]) {
      assert.equal(pictures.asked.get(path), 1, path)
    }
    // Without a listing a picture goes; one that another listing has stays.
    await put([one, { media: [] }])
    await inStep()
    const files = await site.php<readonly string[]>(
      `return array_map('basename', glob(wp_upload_dir()['basedir'] . '/property-events/*/*.png'));`,
    )
    const left = files.filter((name) => !/-\d+x\d+\.png$/.test(name))
    assert.equal(left.length, 3, files.join())
  })

  it('shows one picture as the main one of many listings, and the second where the first is none', async (context) => {
    const { put } = await begun(context)
    const refs = Array.from({ length: 45 }, () => randomUUID())
    const shared = mediaOf('/empty.png', '/good-placeholder.png')
    await put(...refs.map((ref) => [ref, { media: shared }] as const))
    await inStep()
    const shown = await site.php<number>(
      `global $wpdb; return (int) $wpdb->get_var("SELECT count(*) FROM {$wpdb->postmeta} WHERE meta_key = '_thumbnail_id'");`,
    )
    assert.equal(shown, 45)
  })

  it('goes to no address of its own network for a picture', async (context) => {
    const { put } = await begun(context)
    const ref = randomUUID()
    await put([ref])
    const { code, stderr } = await site.command(['sync'], { environment: { STRANGERS_ONLY: '1' } })
    assert.equal(code, 0, stderr)
    assert.equal(pictures.asked.get(`/good-${ref}.png`), undefined)
  })

  it('makes a draft of what is removed, answers 410 for it, and deletes it after 30 days', async (context) => {
    const { put, remove, assertRight } = await begun(context)
    const [gone, back, stays] = [randomUUID(), randomUUID(), randomUUID()]
    await put([gone], [back], [stays])
    await inStep()
    const first = await assertRight()
    await remove(gone, back)
    await inStep()
    const drafts = await assertRight()
    assert.deepEqual(
      [gone, back, stays].map((ref) => drafts.get(ref)?.status),
      ['draft', 'draft', 'publish'],
    )
    const address = (ref: string) => `${site.url}/listings/${first.get(ref)?.name}/`
    const statuses = async (...addresses: readonly string[]) =>
      Promise.all(addresses.map(async (one) => (await fetch(one, { redirect: 'manual' })).status))
    assert.deepEqual(
      await statuses(address(gone), address(stays), `${site.url}/listings/never-was/`),
      [410, 200, 404],
    )
    // What comes back within the 30 days is the same post, under its address.
    await put([back])
    await inStep()
    const again = await assertRight()
    assert.deepEqual(
      [again.get(back)?.id, again.get(back)?.name],
      [first.get(back)?.id, first.get(back)?.name],
    )
    const daysPass = (days: number) =>
      site.php(
        `global $wpdb; return $wpdb->query("UPDATE {$wpdb->prefix}property_events_listings SET removed_at = removed_at - ${days} * 86400 WHERE removed_at > 0");`,
      )
    await daysPass(29)
    await inStep()
    assert.equal((await postsOf(site)).get(gone)?.status, 'draft')
    await daysPass(2)
    await inStep()
    assert.equal((await postsOf(site)).has(gone), false)
    assert.deepEqual(await statuses(address(gone)), [410])
    // After that it is a new post, and its address is still its own.
    await put([gone])
    await inStep()
    assert.equal((await assertRight()).get(gone)?.name, first.get(gone)?.name)
  })

  it('deletes at once what is erased, pictures included (D17)', async (context) => {
    const { service, put } = await begun(context)
    const ref = randomUUID()
    await put([ref], [randomUUID()])
    await inStep()
    const answer = await fetch(`${service.url}/v1/erasures`, {
      method: 'POST',
      headers: { 'x-api-key': service.tenant.eraseKey, 'content-type': 'application/json' },
      body: JSON.stringify({ feed: 'property', subjectId: ref, reason: 'published_in_error' }),
    })
    assert.equal(answer.status, 202)
    await inStep()
    assert.deepEqual([...(await postsOf(site)).keys()].includes(ref), false)
    const rows = await site.php<readonly unknown[]>(
      `global $wpdb; return [$wpdb->get_var("SELECT concat(payload, post_id) FROM {$wpdb->prefix}property_events_listings WHERE ref = '${ref}'"),
        $wpdb->get_var("SELECT count(*) FROM {$wpdb->prefix}property_events_images")];`,
    )
    assert.deepEqual(rows, ['0', '1'])
  })

  it('stops before a mistake of the publisher empties the site, until it is allowed (D31)', async (context) => {
    const { put, remove, assertRight } = await begun(context)
    const refs = Array.from({ length: 60 }, () => randomUUID())
    await put(...refs.map((ref) => [ref, { media: [] }] as const))
    await inStep()
    await remove(...refs.slice(0, 50))
    const held = await site.command(['sync'])
    assert.equal(held.code, 1)
    assert.match(
      held.stderr,
      /Stopped: with these 50, 50 of 60 in the copy would be gone within 24 hours \(limit 20\)\. .*updates have stopped.* \(wp property-events sync --allow-mass-removal\)/,
    )
    assert.equal([...(await postsOf(site)).values()].filter(({ status }) => status === 'publish').length, 60)
    // Read anew, the feed says the same, and the site stays as it is.
    assert.equal((await site.command(['resync'])).code, 0)
    assert.match((await site.command(['sync'])).stderr, /these 50, 50 of 60/)
    await inStep('--allow-mass-removal')
    await assertRight()
  })

  it('keeps what it made of each listing: its address, or why it was refused', async (context) => {
    const { put, remove } = await begun(context)
    const [shown, refused, removed] = [randomUUID(), randomUUID(), randomUUID()]
    await put([shown], [refused, { reference: 'REFUSE-ME' }], [removed])
    await inStep()
    await remove(removed)
    await inStep()
    const { stdout } = await site.command(['verdicts'])
    const verdicts = stdout
      .trim()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as {
            readonly reference: string
            readonly verdict: string
            readonly reason: string
            readonly address: string
          },
      )
    const of = (ref: string) => verdicts.find(({ reference }) => reference === ref)
    assert.deepEqual([of(shown)?.verdict, of(removed)?.verdict], ['shown', 'removed'])
    assert.equal((await fetch(of(shown)?.address ?? '')).status, 200)
    assert.deepEqual([of(refused)?.verdict, of(refused)?.reason], ['refused', 'The site does not want it.'])
    // A receiver is told each of them once, and again when it did not take them.
    const told = await site.php<readonly number[]>(`
      $receiver = new class implements \\PropertyEvents\\WordPress\\VerdictReceiver {
        public array $told = []; public bool $fails = true;
        public function receive(array $verdicts): void { $this->told[] = count($verdicts); if ($this->fails) throw new RuntimeException('away'); }
      };
      add_filter('property_events_verdict_receiver', fn () => $receiver);
      $verdicts = new \\PropertyEvents\\WordPress\\Verdicts(\\PropertyEvents\\WordPress\\Store::open());
      $verdicts->deliver(); $receiver->fails = false; $verdicts->deliver(); $verdicts->deliver();
      return $receiver->told;`)
    assert.deepEqual(told, [3, 3])
  })

  it('leaves out a listing in whose making the process ends, and shows all others', async (context) => {
    const { put, assertRight } = await begun(context)
    const [poison, ...others] = Array.from({ length: 30 }, () => randomUUID())
    await put(
      [poison ?? '', { reference: 'KILL-ME', media: [] }],
      ...others.map((ref) => [ref, { media: [] }] as const),
    )
    let ended = 0
    while ((await site.cron()) === undefined) assert.ok((ended += 1) <= 6, 'it ends five times')
    assert.equal(ended, 5)
    await inStep()
    const shown = [...(await postsOf(site))]
      .filter(([, { status }]) => status === 'publish')
      .map(([ref]) => ref)
    assert.deepEqual(shown.sort(), others.sort())
    // Mended at the publisher's, it is shown.
    await put([poison ?? '', { media: [] }])
    await inStep()
    await assertRight()
  })

  it('runs once at a time, and says what is wrong in a sentence', async (context) => {
    const { service, put } = await begun(context)
    await put([randomUUID()])
    const outcomes = await Promise.all([
      site.command(['sync']),
      site.command(['sync']),
      site.command(['sync']),
    ])
    for (const { code, stderr } of outcomes)
      assert.ok(code === 0 || /Another run is under way/.test(stderr), stderr)
    await inStep()
    await beginAnew(site, service.url, 'pev_wrong')
    assert.match((await site.command(['sync'])).stderr, /Error: .* does not accept the key \(401\)/)
    await beginAnew(site, 'http://127.0.0.1:1', 'pev_wrong')
    assert.match((await site.command(['sync'])).stderr, /does not answer: Connection refused/)
    await beginAnew(site, '', '')
    assert.match(
      (await site.command(['sync'])).stderr,
      /Give the address and the key on the settings page first/,
    )
    // A key of another agency, whose feed is empty, takes nothing away.
    await beginAnew(site, service.url, service.tenant.readKey)
    await inStep()
    await site.php(
      `update_option('property_events_settings', ['key' => '${service.otherTenant.readKey}'] + get_option('property_events_settings')); return true;`,
    )
    await service.storage.startEpoch(0, 'cli:test')
    assert.match((await site.command(['sync'])).stderr, /belongs to tenant .* start over/s)
    assert.equal([...(await postsOf(site)).values()].filter(({ status }) => status === 'publish').length, 1)
    assert.equal(site.complaints(), '')
  })
})
