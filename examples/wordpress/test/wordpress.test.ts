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
import type { TestService } from '../../../packages/server/test/support/test-service.ts'
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
    assert.equal(missing, undefined, missing)
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
    const names = refs.map((key, index) => (index === 0 ? 'mill-lane-ely' : `mill-lane-ely-${key.slice(0, 8)}`))
    assert.deepEqual(refs.map((key) => first.get(key)?.name), names)
    const [ref = '', other = ''] = refs
    await put([ref, { price_information: { price: 325_000, price_qualifier: 2 } }], [other, { address: { display_address: 'Elsewhere' } }])
    await inStep()
    const second = await assertRight()
    for (const [key, { id, name }] of first) {
      assert.deepEqual([second.get(key)?.id, second.get(key)?.name], [id, name])
    }
    const page = await fetch(`${site.url}/listings/${second.get(ref)?.name}/`)
    assert.equal(page.status, 200)
    assert.match(await page.text(), /Guide Price £325,000/)
    assert.equal((await publish(service, { payload: property({ agent_ref: ref, published: false }) })).events.length, 1)
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
      const text = { details: { description: `<p>Round ${round} [gallery] https://example.com/\n\nWith "quotes" & \\slashes\\ 🏡</p>` } }
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
    const text = '<p>A house by the river, with a garden that faces south and a kitchen that was made new.</p>'
    const home = (index: number, price: number) => ({
      price_information: { price },
      address: { display_address: `${index} Mill Lane, Ely`, postcode_1: 'CB7', postcode_2: '4AA', latitude: 52.4, longitude: 0.26 },
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
        await put(...refs.slice(from, from + 500).map((ref, index) => [ref, home(from + index, price + index)] as const))
      }
    }
    const runs: { readonly bytes: number; readonly ms: number }[] = []
    const runToEnd = async () => {
      for (let left = true; left; ) {
        runs.push((await site.cron({ memoryLimit: '64M' })) ?? assert.fail('it was killed'))
        const status = await site.php<{ readonly outcome: string }>('return \\PropertyEvents\\WordPress\\Status::now();')
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
    const [mostMs, mostBytes] = [Math.max(...runs.map(({ ms }) => ms)), Math.max(...runs.map(({ bytes }) => bytes))]
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
    await put(...refs.slice(100, 200).map((ref) => [ref, { media: [], price_information: { price: 1_000 } }] as const))
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
})
