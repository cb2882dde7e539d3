/** The PHP example behind caches and proxies that give another page than the one that was asked for. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { eventOf, eventsOf, pagesOver, urlOf } from '../packages/client/test/support/small-feed.ts'
import { copied, folderFor, serving, withPhp } from './php-runner.ts'

const all = eventsOf(765)
const feed = pagesOver(() => all)
const isList = (url: URL) => url.pathname.endsWith('/getevents')

/** The feed behind something that asks for another page than the reader. */
function behind(change: (query: URLSearchParams, times: number) => void): typeof fetch {
  let times = 0
  return async (input) => {
    const url = urlOf(input)
    if (isList(url)) change(url.searchParams, (times += 1))
    return feed(url)
  }
}

async function stopped(context: TestContext, proxied: typeof fetch, words: RegExp) {
  const folder = folderFor(context)
  const ended = await copied(folder, await serving(context, proxied), { ATTEMPTS: '4' })
  assert.equal(ended.code, 1, ended.words)
  assert.match(ended.words, words)
  assert.match(ended.words, /Is there a cache in front of the service that ignores the query\?/)
  return ended
}

describe('the PHP example stops, with a sentence, where a list is not the one it asked for', () => {
  it('because nothing of the query arrives', withPhp, async (context) => {
    const dropped = behind((query) => {
      for (const name of ['apiEventType', 'page', 'pageSize', 'from']) query.delete(name)
      query.set('page', '1')
      query.set('pageSize', '99')
    })
    const { properties } = await stopped(context, dropped, /was for page \d+, and the answer is page 1\./)
    assert.ok(Object.keys(properties).length <= 99)
  })

  it('because the number of the page does not arrive', withPhp, async (context) => {
    await stopped(
      context,
      behind((query) => query.set('page', '1')),
      /was for page \d+, and the answer is page 1\./,
    )
  })

  it('because a larger page comes than was asked for', withPhp, async (context) => {
    await stopped(
      context,
      behind((query) => query.set('pageSize', '500')),
      /was for pageSize 100, and the answer has pageSize 500/,
    )
  })

  it('because two pages are exchanged', withPhp, async (context) => {
    const exchanged = behind((query) => {
      if (query.get('page') === '3') query.set('page', '4')
    })
    await stopped(context, exchanged, /was for page 3, and the answer is page 4\./)
  })

  it('because one page is another one under the right number', withPhp, async (context) => {
    const forged: typeof fetch = async (input) => {
      const url = urlOf(input)
      const page = Number(url.searchParams.get('page'))
      if (!isList(url) || page !== 5) return feed(url)
      url.searchParams.set('page', '4')
      return Response.json({ ...((await (await feed(url)).json()) as object), page })
    }
    await stopped(context, forged, /for page 5 does not continue page 4/)
  })

  it('because one page is old, of a time when the list was shorter', withPhp, async (context) => {
    const before = pagesOver(() => all.slice(0, 240))
    const mixed: typeof fetch = async (input) =>
      (urlOf(input).searchParams.get('page') === '3' ? before : feed)(input)
    const folder = folderFor(context)
    const { code, words } = await copied(folder, await serving(context, mixed), { ATTEMPTS: '4' })
    assert.equal(code, 1, words)
    assert.match(words, /availableCount keeps falling, at page 3 by 525/)
  })

  it('because events of the list are on none of its pages', withPhp, async (context) => {
    // Without an order that could show it: pages that repeat others.
    const shuffled = all.toSorted((one, other) => (one.id < other.id ? -1 : 1))
    const repeating = pagesOver(() => [...shuffled.slice(0, 300), ...shuffled.slice(200, 665)])
    await stopped(context, repeating, /has 765 events, and its pages did not show 100 of them/)
  })

  it('because the window of time does not arrive, long after the first read', withPhp, async (context) => {
    const days = eventsOf(50, { stepMs: 7_200_000 })
    const whole = pagesOver(() => days)
    const folder = folderFor(context)
    const ignoring: typeof fetch = async (input) => {
      const url = urlOf(input)
      url.searchParams.delete('from')
      return whole(url)
    }
    const url = await serving(context, ignoring)
    assert.equal((await copied(folder, url)).code, 0)
    const { code, words } = await copied(folder, url, { ATTEMPTS: '2' })
    assert.equal(code, 1)
    assert.match(
      words,
      /The request was for events from 2026-01-05 .*, and the answer has one of 2026-01-01T/,
    )
  })
})

describe('the PHP example reads a list whole', () => {
  it('that grows while it is read, in either order', withPhp, async (context) => {
    for (const order of ['oldest first', 'newest first'] as const) {
      const growing = eventsOf(765)
      const isNewestFirst = order === 'newest first'
      const list = pagesOver(() => (isNewestFirst ? growing.toReversed() : growing))
      const publishing: typeof fetch = async (input) => {
        if (isList(urlOf(input))) growing.push(eventOf(growing.length + 1, `p${growing.length + 1}`))
        return list(input)
      }
      const { code, words, properties } = await copied(
        folderFor(context),
        await serving(context, publishing),
        { ATTEMPTS: '2' },
      )
      assert.equal(code, 0, `${order}: ${words}`)
      assert.ok(Object.keys(properties).length >= 765, order)
    }
  })

  it('although one page comes once from a cache', withPhp, async (context) => {
    let stale = 0
    const once = behind((query) => {
      if (query.get('page') === '3' && (stale += 1) === 1) query.set('page', '2')
    })
    const { code, words, properties } = await copied(folderFor(context), await serving(context, once))
    assert.equal(code, 0, words)
    assert.equal(Object.keys(properties).length, 765)
  })
})
