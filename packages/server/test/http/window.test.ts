import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { call, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'

/** A letter in upper case takes a request past the bare socket, to the router (D19). */
const paths = [listPath, listPath.replace('/api/', '/API/')]

onEngines('windows of time', {}, (service) => {
  /** By both ways of HTTP, which must say the same. */
  const list = async (query: string) => {
    const [answer, other] = await Promise.all(
      paths.map((path) => call(service(), `${path}?${query}`, { key: service().tenant.readKey })),
    )
    assert(answer !== undefined && other !== undefined)
    assert.equal(other.status, answer.status)
    assert.deepEqual(contentOf(other), contentOf(answer))
    return answer
  }
  const contentOf = (answer: Answer) => (answer.status === 200 ? answer.text : problemOf(answer).errors)
  const count = async (query: string) => {
    const answer = await list(query)
    assert.equal(answer.status, 200, `${query}: ${answer.text}`)
    return pageOf(answer).availableCount
  }
  const encoded = (text: string) => encodeURIComponent(text)
  let dates: readonly string[] = []

  before(async () => {
    await publish(
      service(),
      Array.from({ length: 5 }, () => ({ payload: property() })),
    )
    dates = pageOf(await list('')).items.map(({ createdDate }) => createdDate)
  })

  it('bounds createdDate, both ends included (D5)', async () => {
    const [first = '', second = '', third = '', , last = ''] = dates
    assert.equal(await count(`from=${first}`), 5)
    assert.equal(await count(`from=${second}`), 4)
    assert.equal(await count(`to=${last}`), 5)
    assert.equal(await count(`to=${first}`), 1)
    assert.equal(await count(`from=${second}&to=${third}`), 2)
    assert.equal(await count(`from=${second}&to=${second}`), 1)
    const page = pageOf(await list(`from=${second}&pageSize=2&page=2`))
    assert.deepEqual(
      page.items.map(({ createdDate }) => createdDate),
      dates.slice(3),
    )
    assert.equal(page.totalPages, 2)
  })

  it('includes the whole interval of the last written digit of to (D5)', async () => {
    const [first = ''] = dates
    const today = first.slice(0, 10)
    assert.equal(await count(`to=${today}`), 5)
    assert.equal(await count(`from=${today}&to=${today}`), 5)
    assert.equal(await count(`to=${encoded(first.slice(0, 19))}`), 5)
    assert.equal(await count(`from=${encoded(first.slice(0, 22))}&to=${encoded(first.slice(0, 22))}`), 5)
    assert.equal(await count('to=1999-12-31'), 0)
    assert.equal(await count('from=2999-01-01'), 0)
  })

  it('accepts a space as + and as %20, a T, a Z and 0 to 7 fraction digits (D5)', async () => {
    const [first = ''] = dates
    const [day = '', time = ''] = first.split('T')
    for (const separator of ['T', '+', '%20']) {
      for (let digits = 0; digits <= 7; digits += 1) {
        const text = digits === 0 ? time.slice(0, 8) : time.slice(0, 9 + digits)
        for (const zone of ['', 'Z']) assert.equal(await count(`from=${day}${separator}${text}${zone}`), 5)
      }
    }
  })

  /** The same instant on a clock that is ahead of UTC, without a zone. */
  const onClock = (createdDate: string, aheadMinutes: number) =>
    new Date(Date.parse(`${createdDate.slice(0, 23)}Z`) + aheadMinutes * 60_000).toISOString().slice(0, 23) +
    createdDate.slice(23)

  it('accepts a time in any zone, with its plus percent-encoded or not (D5)', async () => {
    const [first = '', second = ''] = dates
    for (const [offset, aheadMinutes] of [
      ['%2B01:00', 60],
      ['+01:00', 60],
      ['%2B00:00', 0],
      ['+05:45', 345],
      ['-03:30', -210],
      // As PHP, Python and PostgreSQL write them.
      ['%2B0000', 0],
      ['+0000', 0],
      ['%2B00', 0],
      ['+00', 0],
      ['%2B0100', 60],
      ['+0100', 60],
      ['%2B01', 60],
      ['+01', 60],
      ['-0330', -210],
      ['-03', -180],
    ] as const) {
      assert.equal(await count(`from=${onClock(second, aheadMinutes)}${offset}`), 4, offset)
      assert.equal(await count(`to=${onClock(first, aheadMinutes)}${offset}`), 1, offset)
      const minute = onClock(first, aheadMinutes).slice(0, 16)
      assert.equal(await count(`from=${minute}${offset}`), 5, offset)
      assert.equal(await count(`from=${minute.replace('T', '+')}${offset}`), 5, offset)
    }
  })

  it('accepts minutes, lower case letters and the digits of a finer clock, cut outward (D5)', async () => {
    const [first = '', second = ''] = dates
    assert.equal(await count(`from=${first.slice(0, 16)}`), 5)
    assert.equal(await count(`from=${encoded(first.slice(0, 16).replace('T', ' '))}`), 5)
    assert.equal(await count(`from=${first.slice(0, 16).toLowerCase()}z`), 5)
    for (const digits of ['00', '01', '99', '500000000']) {
      // Of a finer clock, the tick of this event has begun and not ended.
      assert.equal(await count(`from=${second}${digits}`), 4)
      assert.equal(await count(`to=${second}${digits}`), 2)
      assert.equal(await count(`from=${second}${digits}&to=${second}${digits}Z`), 1)
    }
  })

  it('laid end to end, in whatever form, shows every event (P3, D5)', async () => {
    const seen = new Set<string>()
    const see = async (query: string) => {
      for (const { id } of pageOf(await list(query)).items) seen.add(id)
    }
    const cuts = dates.map((date, index) => {
      const ahead = [60, 0, -210, 345, 60][index] ?? 0
      const offset = ['%2B01:00', 'z', '-03:30', '+05:45', '+01:00'][index] ?? ''
      return onClock(date, ahead) + '5'.repeat(index) + offset
    })
    await see(`to=${cuts[0]}`)
    for (const [index, cut] of cuts.entries()) {
      const next = cuts[index + 1]
      await see(next === undefined ? `from=${cut}` : `from=${cut}&to=${next}`)
    }
    assert.equal(seen.size, 5)
  })

  for (const bad of [
    '2025-02-30 00:00:00.00',
    '2025-04-31',
    '2025-02-29',
    '2025-01-01 24:00:00',
    '2025-01-01 23:59:60',
    '2025-01-01 23:60:00',
    '2025-13-01',
    '0000-00-00',
    '0000-01-01',
    '2025-00-10',
    '2025-01-00',
    '2025-1-1',
    '20250101',
    '2025-01-01T10:00:00+010',
    '2025-01-01T10:00:00+1',
    '2025-01-01T10:00:00+2400',
    '2025-01-01T10:00:00+24:00',
    '2025-01-01T10:00:00+01:60',
    '2025-01-01 10:00:00 +01:00',
    '2025-01-01 10:00:00 UTC',
    '2025-01-01+01:00',
    '2025-01-01 10:00:00.',
    '2025-01-01 10:00:00,5',
    '2025-01-01  10:00:00',
    ' 2025-01-01',
    '2025-01-01 ',
    '2025-01-01Z',
    "'; DROP TABLE events;--",
    '1735689600',
    '1735689600000',
    'now',
    '',
    'null',
    '+002025-01-01',
    '-2025-01-01',
    '٢٠٢٥-٠١-٠١',
  ]) {
    it(`refuses the time "${bad}" and says what it accepts (D5)`, async () => {
      for (const name of ['from', 'to']) {
        const answer = await list(`${name}=${encoded(bad)}`)
        assert.equal(answer.status, 400)
        const [error] = problemOf(answer).errors ?? []
        assert.equal(error?.parameter, name)
        assert.match(error?.message ?? '', /YYYY-MM-DD HH:mm:ss\.ff/)
      }
    })
  }

  it('says what to write for a Unix time and for an offset of another form (D5)', async () => {
    const hint = async (value: string) =>
      problemOf(await list(`from=${encoded(value)}`)).errors?.[0]?.message ?? ''
    assert.match(await hint('1735689600'), /Unix/)
    for (const offset of ['+010', '+1', ' +01:00', ' -0100', ' +0100', '+1:00'])
      assert.match(await hint(`2025-01-01T10:00:00${offset}`), /offset is written \+01:00/i, offset)
    assert.match(await hint('2025-01-01+01:00'), /needs a time of day/)
  })

  it('refuses from after to and names both; from equal to to is a window (D5)', async () => {
    const answer = await list('from=2025-02-01&to=2025-01-31')
    assert.equal(answer.status, 400)
    assert.deepEqual(
      problemOf(answer).errors?.map(({ parameter }) => parameter),
      ['from', 'to'],
    )
    assert.equal(await count('from=2025-02-01+10:00:00&to=2025-02-01+10:00:00'), 0)
    assert.equal(await count('from=2025-02-01+12:00:00&to=2025-02-01'), 0)
  })

  it('reports every fault of a request at once (D6)', async () => {
    const answer = await list('page=0&pageSize=0&from=x&to=y&apiEventType=z')
    const names = problemOf(answer).errors?.map(({ parameter }) => parameter)
    assert.deepEqual(names?.toSorted(), ['apiEventType', 'from', 'page', 'pageSize', 'to'])
  })
})
