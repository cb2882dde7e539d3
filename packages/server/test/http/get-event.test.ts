import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import {
  call,
  contactGetPath,
  getPath,
  listPath,
  pageOf,
  problemOf,
  publish,
} from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import { until } from '../support/until.ts'
import { withEvents } from '../support/with-events.ts'

onEngines('getting one event', { byNode: true }, (service) => {
  const get = (id: string, path = getPath) =>
    call(service(), `${path}/${id}`, { key: service().tenant.readKey })
  let id = ''
  let contactId = ''
  let foreignId = ''

  before(async () => {
    const { otherTenant } = service()
    id = (await publish(service(), { payload: property() })).events[0]?.id ?? ''
    contactId = (await publish(service(), { payload: contact() }, { feed: 'contact' })).events[0]?.id ?? ''
    const foreign = await publish(service(), { payload: property() }, { key: otherTenant.publishKey })
    foreignId = foreign.events[0]?.id ?? ''
  })

  it('answers the event alone, with the bytes it has in the list (spec §4.2, P9)', async () => {
    const answer = await get(id)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], 'application/json')
    const list = await call(service(), listPath, { key: service().tenant.readKey })
    assert.ok(list.text.startsWith(`{"items":[${answer.text}],`))
    assert.deepEqual(JSON.parse(answer.text), pageOf(list).items[0])
  })

  it('finds it in either case of its letters and of the path (D8, D19)', async () => {
    const lower = await get(id)
    const upper = await get(id.toUpperCase(), '/api/FUNC/api/v1/events/GetEventById')
    assert.equal(upper.status, 200)
    assert.equal(upper.text, lower.text)
  })

  it('refuses text that is not a UUID (D8)', async () => {
    const dashless = id.replaceAll('-', '')
    for (const bad of [
      `%7B${id}%7D`,
      `urn:uuid:${id}`,
      dashless,
      `${id}%20`,
      `%20${id}`,
      `${id}0`,
      id.slice(1),
      'null',
      '1',
      'x'.repeat(200),
      '..%2f..%2fetc',
      '%00',
      `${id}%0a`,
      id.replace('-', '_'),
      "1'%20OR%20'1'='1",
      '%EF%BC%91',
    ]) {
      const answer = await get(bad)
      assert.equal(answer.status, 400, `${bad} was answered ${answer.status}`)
      const problem = problemOf(answer)
      assert.equal(problem.errors?.[0]?.parameter, 'eventId')
      assert.ok(answer.text.length < 1_000)
    }
  })

  it('refuses a path that is not percent-encoded UTF-8 (D8)', async () => {
    for (const bad of ['%', '%ZZ', '%C3%28', '%FF']) {
      const answer = await get(bad)
      assert.equal(answer.status, 400)
      assert.equal(problemOf(answer).code, 'invalid_target')
    }
  })

  it('answers 404 for the nil UUID, an empty id and an event of the other feed (D8, D18)', async () => {
    for (const path of [
      `${getPath}/00000000-0000-0000-0000-000000000000`,
      `${getPath}/`,
      getPath,
      `${getPath}/${contactId}`,
      `${contactGetPath}/${id}`,
    ]) {
      const answer = await call(service(), path, { key: service().tenant.readKey })
      assert.equal(answer.status, 404, path)
    }
    assert.equal((await get(contactId, contactGetPath)).status, 200)
  })

  it("answers another tenant's event exactly like an unknown one (D8, P10)", async () => {
    const unknownId = '0194b3e0-0000-7000-8000-000000000000'
    const [foreign, unknown] = [await get(foreignId), await get(unknownId)]
    assert.equal(foreign.status, 404)
    const blank = (answer: typeof foreign, own: string) => {
      const { headers, text } = answer
      // The bucket of the rate limit fills between any two requests.
      const { date: _date, ratelimit: _limit, 'x-request-id': requestId, ...others } = headers
      return JSON.stringify([others, text.replaceAll(own, 'ID').replaceAll(String(requestId), 'REQUEST')])
    }
    assert.equal(blank(foreign, foreignId), blank(unknown, unknownId))
    assert.equal(problemOf(foreign).code, 'event_not_found')
  })

  it('names parameters it does not know, and answers (D19)', async () => {
    const answer = await get(`${id}?verbose=1`)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['x-ignored-parameters'], 'verbose')
  })
})

let lookUps = 0

onEngines(
  'an event whose page was read',
  {
    byNode: true,
    wrap: (storage) => {
      const { events } = storage
      const positionOf: typeof events.positionOf = (key, id) => {
        lookUps += 1
        return events.positionOf(key, id)
      }
      const readEvent: typeof events.readEvent = (key, id) => {
        lookUps += 1
        return events.readEvent(key, id)
      }
      return withEvents(storage, { positionOf, readEvent })
    },
  },
  (service) => {
    it('is looked up once, however many ask for it (D20)', async () => {
      const { readKey } = service().tenant
      const published = Array.from({ length: 100 }, () => ({ payload: property() }))
      const { events } = await publish(service(), published)
      const path = `${getPath}/${events[42]?.id}`
      const page = pageOf(await call(service(), listPath, { key: readKey }))
      const looked = async (): Promise<number> => {
        const before = lookUps
        const answer = await call(service(), path, { key: readKey })
        assert.deepEqual(JSON.parse(answer.text), page.items[42])
        return lookUps - before
      }
      // The page is sealed in the background.
      await until(async () => (await looked()) === 0)
      for (let round = 0; round < 3; round += 1) assert.equal(await looked(), 0)
    })

    it('and for the newest, whose page is not full yet, the position is known: the store is asked only for its bytes (D20)', async () => {
      const { readKey } = service().tenant
      const { events } = await publish(service(), [{ payload: property() }])
      const asked: number[] = []
      for (let round = 0; round < 3; round += 1) {
        const before = lookUps
        const answer = await call(service(), `${getPath}/${events[0]?.id}`, { key: readKey })
        assert.equal(JSON.parse(answer.text).id, events[0]?.id)
        asked.push(lookUps - before)
      }
      assert.deepEqual(asked, [2, 1, 1])
    })
  },
)
