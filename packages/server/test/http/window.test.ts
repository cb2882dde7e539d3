import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { call, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'

onEngines('windows of time', {}, (service) => {
  const list = (query: string) => call(service(), `${listPath}?${query}`, { key: service().tenant.readKey })
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
    '2025-01-01 10:00',
    '2025-01-01T10:00:00+01:00',
    '2025-01-01 10:00:00 +0100',
    '2025-01-01 10:00:00.',
    '2025-01-01 10:00:00.12345678',
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
    it(`refuses the time "${bad}" and says what is read (D5)`, async () => {
      for (const name of ['from', 'to']) {
        const answer = await list(`${name}=${encoded(bad)}`)
        assert.equal(answer.status, 400)
        const [error] = problemOf(answer).errors ?? []
        assert.equal(error?.parameter, name)
        assert.match(error?.message ?? '', /YYYY-MM-DD HH:mm:ss\.ff/)
      }
    })
  }

  it('hints at Unix times and offsets (D5)', async () => {
    const hint = async (value: string) =>
      problemOf(await list(`from=${encoded(value)}`)).errors?.[0]?.message ?? ''
    assert.match(await hint('1735689600'), /Unix/)
    assert.match(await hint('2025-01-01T10:00:00+01:00'), /Offsets/)
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
