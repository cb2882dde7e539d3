/** Clients that poll by time and take the next `from` from the last answer, on a store that answers slowly (P3, PROTOCOL §3.4). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { parseCreatedDate, parseWindowBound } from '@property-events/protocol'
import type { LocateQuery } from '../../src/events/event-log.ts'
import { call, contactListPath, listPath, pageOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import { until } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

const feeds = [
  { feed: 'property', list: listPath, payload: property },
  { feed: 'contact', list: contactListPath, payload: contact },
] as const

/** A letter in upper case takes a request past the bare socket, to Node's HTTP (D19). */
const byNode = (path: string) => path.replace('/api/', '/API/')

let gate = Promise.resolve()
let located = 0

/** The store has looked, and its answer is on its way. */
async function answerLate<Answer>(query: LocateQuery, answer: Promise<Answer>): Promise<Answer> {
  const found = await answer
  const isWindow = query.from !== undefined || query.to !== undefined
  if (isWindow) located += 1
  if (isWindow) await gate
  return found
}

onEngines(
  'the date of a window',
  {
    wrap: (storage) =>
      withEvents(storage, { locate: (query) => answerLate(query, storage.events.locate(query)) }),
  },
  (service) => {
    const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
      call(service(), path, { key: service().tenant.readKey, headers, method })
    const idsOf = (answer: Answer) => {
      assert.equal(answer.status, 200, answer.text)
      return pageOf(answer).items.map(({ id }) => id)
    }
    const dateOf = ({ headers }: Answer) => new Date(headers.date ?? '').toISOString()
    const momentOf = ({ headers }: Answer) => String(headers['x-feed-complete-until'])

    /** Asks all at once, and publishes one event of each feed, at least a second before their answers come. */
    async function askLate(ask: readonly (() => Promise<Answer>)[]) {
      const held = Promise.withResolvers<void>()
      ;[gate, located] = [held.promise, 0]
      const answers = Promise.all(ask.map((one) => one()))
      await until(() => located === ask.length, { what: 'every question located' })
      const late = new Map<string, { readonly id: string; readonly createdDate: string }>()
      for (const { feed, payload } of feeds) {
        const { events } = await publish(service(), { payload: payload() }, { feed })
        const [event] = events
        if (event !== undefined) late.set(feed, event)
      }
      const createdMs = Math.max(
        ...[...late.values()].map(({ createdDate }) => Date.parse(`${createdDate}Z`)),
      )
      await until(() => Math.floor(Date.now() / 1000) > Math.floor(createdMs / 1000), {
        what: 'the next second',
      })
      held.resolve()
      return { answers: await answers, late }
    }

    it('is the moment that it was located, so whoever asks from there misses nothing (P3)', async () => {
      for (const { feed, payload } of feeds)
        await publish(service(), [{ payload: payload() }, { payload: payload() }], { feed })
      const questions = await Promise.all(
        feeds.map(async ({ feed, list }) => {
          const etag = String((await get(`${list}?from=2000-01-01`)).headers.etag)
          return [list, byNode(list)].flatMap((path) => [
            { feed, list, status: 200, ask: () => get(`${path}?from=2000-01-01`) },
            { feed, list, status: 200, ask: () => get(`${path}?to=2999-01-01`) },
            { feed, list, status: 200, ask: () => get(`${path}?from=2000-01-01`, {}, 'HEAD') },
            {
              feed,
              list,
              status: 200,
              ask: () => get(`${path}?from=2000-01-01`, { 'accept-encoding': 'gzip' }),
            },
            { feed, list, status: 304, ask: () => get(`${path}?from=2000-01-01`, { 'if-none-match': etag }) },
          ])
        }),
      ).then((all) => all.flat())
      const { answers, late } = await askLate(questions.map(({ ask }) => ask))

      for (const [index, answer] of answers.entries()) {
        const { feed, list, status } = questions[index] ?? assert.fail()
        const event = late.get(feed) ?? assert.fail()
        assert.equal(answer.status, status)
        const moment = parseCreatedDate(momentOf(answer)) ?? assert.fail(momentOf(answer))
        assert.ok(
          moment <= (parseCreatedDate(event.createdDate) ?? 0n),
          `${momentOf(answer)}, ${event.createdDate}`,
        )
        assert.equal(dateOf(answer), new Date(Number(moment / 10_000_000n) * 1000).toISOString())
        for (const from of [dateOf(answer), momentOf(answer)])
          assert.ok(idsOf(await get(`${list}?from=${from}`)).includes(event.id), `from=${from}`)
      }
    })

    it('holds on a second node too, whose own clock is nowhere in it (P3)', async () => {
      const node = await service().another()
      const { answers, late } = await askLate([() => get(`${listPath}?from=2000-01-01`)])
      const [answer = assert.fail()] = answers
      const next = await call(node, `${listPath}?from=${dateOf(answer)}`, { key: service().tenant.readKey })
      await node.stop()
      assert.ok(idsOf(next).includes(late.get('property')?.id ?? ''))
    })

    it('is the end of a window that has ended, and of one that ended long ago its own time (P3, D5)', async () => {
      await publish(service(), { payload: property() })
      const createdDate = pageOf(await get(listPath)).items.at(-1)?.createdDate ?? ''
      await publish(service(), { payload: property() })
      for (const path of [listPath, byNode(listPath)]) {
        for (const ended of [createdDate, createdDate, createdDate.slice(0, 19)]) {
          const answer = await get(`${path}?from=2000-01-01&to=${ended}`)
          const end = parseWindowBound('to', ended) ?? 0n
          const moment = parseCreatedDate(momentOf(answer)) ?? assert.fail(momentOf(answer))
          assert.ok(moment <= end)
          assert.equal(dateOf(answer), new Date(Number(moment / 10_000_000n) * 1000).toISOString())
        }
        const startedMs = Math.floor(Date.now() / 1000) * 1000
        const old = await get(`${path}?to=2001-01-31`)
        assert.equal(momentOf(old), '2001-02-01T00:00:00.0000000')
        assert.ok(Date.parse(old.headers.date ?? '') >= startedMs)
      }
    })

    it('is said of windows only: without one, the last event tells where to go on (P3)', async () => {
      for (const path of [listPath, byNode(listPath)])
        assert.equal((await get(path)).headers['x-feed-complete-until'], undefined)
    })
  },
)
