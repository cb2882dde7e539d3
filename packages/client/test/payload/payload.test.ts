/** Payloads as they come: every quirk of the contract is read, reported and survived. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { readContactPayload, readPropertyPayload, readWallTime } from '../../src/index.ts'

const quirkList = (payload: object) =>
  readPropertyPayload(JSON.stringify(payload)).quirks.map(({ code, pointer }) => `${code} ${pointer}`)
const read = (payload: object) => {
  const { value } = readPropertyPayload(JSON.stringify(payload))
  assert.ok(value)
  return value
}

describe('a property payload', () => {
  it('is read field by field, absent and null alike, without a quirk when it has none (spec §2.3–2.7)', () => {
    const text = JSON.stringify({
      agent_ref: 'A1',
      published: true,
      statusstring: null,
      price_information: { price: 250000.5 },
      details: { features: ['Garden'], obligations: { Listed: true, RightOfWay: null }, bedrooms: 3 },
      media: [
        { media_type: 1, media_url: 'https://x.example/1.jpg', media_update_date: '02-07-2013 12:12:12' },
      ],
      risks: { flood_defences: false, sources_of_flooding: ['river'] },
      something_new: { kept: true },
    })
    const { value, quirks, text: kept, raw } = readPropertyPayload(text)
    assert.ok(value)
    assert.deepEqual(quirks, [])
    assert.equal(kept, text)
    assert.deepEqual(raw, JSON.parse(text))
    assert.equal(value.price_information?.price, 250000.5)
    assert.equal(value.price_information?.deposit, null)
    assert.equal(value.statusstring, null)
    assert.equal(value.directions, null)
    assert.equal(value.address, null)
    assert.deepEqual(value.details?.obligations, {
      listed: true,
      restrictions: null,
      requiredAccess: null,
      rightOfWay: null,
    })
    assert.deepEqual(value.details?.heating, [])
    assert.equal(value.media[0]?.media_update_date?.local, '2013-07-02T12:12:12')
    assert.deepEqual(value.risks, {
      flood_defences: false,
      sources_of_flooding: ['river'],
      flooded_in_last_five_years: null,
    })
  })

  it('may have its obligations as a list, in the spelling of either schema (spec §2.6)', () => {
    const asList = { details: { obligations: [] } }
    assert.equal(read(asList).details?.obligations, null)
    assert.deepEqual(quirkList(asList), ['obligations_as_list /details/obligations'])
    const rtdf = { details: { obligations: { listed: true, rights_of_way: false } } }
    assert.equal(read(rtdf).details?.obligations?.listed, true)
    assert.equal(read(rtdf).details?.obligations?.rightOfWay, false)
  })

  it('may have null elements and repeated codes in its lists (spec §2.6)', () => {
    const payload = {
      details: { broadband: [null, 'fttp'], accessibility: [42, 42, 38], features: [null, 'A', 'A'] },
    }
    assert.deepEqual(read(payload).details?.broadband, ['fttp'])
    assert.deepEqual(read(payload).details?.accessibility, [42, 38])
    assert.deepEqual(read(payload).details?.features, ['A', 'A'])
    assert.deepEqual(quirkList(payload).toSorted(), [
      'null_element /details/broadband',
      'null_element /details/features',
      'repeated_element /details/accessibility',
    ])
  })

  it('may have its flood data in any of three places, and they need not agree (spec §2.6)', () => {
    const inDetails = { details: { flood_defences: true, sources_of_flooding: [null, 'sea'] } }
    assert.deepEqual(read(inDetails).risks, {
      flood_defences: true,
      sources_of_flooding: ['sea'],
      flooded_in_last_five_years: null,
    })
    assert.ok(quirkList(inDetails).includes('flood_data_in_details /details/flood_defences'))
    const inRtdfsPlace = { details: { risks: { flooded_in_last_five_years: true } } }
    assert.equal(read(inRtdfsPlace).risks.flooded_in_last_five_years, true)
    const both = { risks: { flood_defences: false }, details: { flood_defences: true } }
    assert.equal(read(both).risks.flood_defences, false)
    assert.deepEqual(quirkList(both), ['flood_data_differs /details/flood_defences'])
    const agreeing = { risks: { flood_defences: true }, details: { flood_defences: true } }
    assert.deepEqual(quirkList(agreeing), [])
  })

  it('may write numbers, flags and texts as another type; what means nothing costs only its field', () => {
    const payload = {
      published: 'true',
      property_type: '8',
      status: 1.5,
      statusstring: 4,
      address: 'Mill Lane',
      price_information: { price: 'POA', deposit: '1,000' },
      media: { media_url: 'x' },
    }
    const property = read(payload)
    assert.equal(property.published, true)
    assert.equal(property.property_type, 8)
    assert.equal(property.status, null)
    assert.equal(property.statusstring, '4')
    assert.equal(property.address, null)
    assert.equal(property.price_information?.price, null)
    assert.deepEqual(property.media, [])
    assert.deepEqual(quirkList(payload).toSorted(), [
      'converted /property_type',
      'converted /published',
      'converted /statusstring',
      'wrong_type /address',
      'wrong_type /media',
      'wrong_type /price_information/deposit',
      'wrong_type /price_information/price',
      'wrong_type /status',
    ])
  })

  it('never makes the reader throw, and its quirks never repeat a value', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        for (const reading of [readPropertyPayload(text), readContactPayload(text)]) {
          assert.equal(reading.text, text)
          assert.equal(
            reading.value === undefined,
            reading.quirks.some(({ code }) => code === 'not_an_object'),
          )
        }
      }),
    )
    const { quirks } = readContactPayload(
      JSON.stringify({ last_name: { secret: 'Lovelace' }, kind: ['Lovelace'] }),
    )
    assert.equal(quirks.length, 2)
    assert.ok(!JSON.stringify(quirks).includes('Lovelace'))
  })

  it('cannot reach a prototype', () => {
    const { value } = readPropertyPayload('{"__proto__":{"published":true},"constructor":1}')
    assert.equal(value?.published, null)
  })
})

describe('a date of a payload', () => {
  const utc = (ms: number | undefined) => new Date(ms ?? Number.NaN).toISOString()

  it('is Europe/London wall time: an hour ahead of UTC in summer (D24)', () => {
    assert.equal(utc(readWallTime('15-01-2025 12:00:00')?.instantMs), '2025-01-15T12:00:00.000Z')
    assert.equal(utc(readWallTime('15-07-2025 12:00:00')?.instantMs), '2025-07-15T11:00:00.000Z')
    assert.equal(utc(readWallTime('30-03-2025 00:59:59')?.instantMs), '2025-03-30T00:59:59.000Z')
    assert.equal(utc(readWallTime('30-03-2025 02:00:00')?.instantMs), '2025-03-30T01:00:00.000Z')
    assert.equal(utc(readWallTime('15-06-1985 12:00:00')?.instantMs), '1985-06-15T11:00:00.000Z')
    const day = readWallTime('01-07-2025')
    assert.deepEqual(day, {
      text: '01-07-2025',
      kind: 'date',
      local: '2025-07-01',
      occurs: 'once',
      instantMs: Date.UTC(2025, 5, 30, 23),
    })
  })

  it('is marked in the hour that autumn repeats, with both instants (D24)', () => {
    const { quirks, value } = readPropertyPayload('{"update_date":"26-10-2025 01:30:00"}')
    assert.deepEqual(
      quirks.map(({ code }) => code),
      ['repeated_hour'],
    )
    const time = value?.update_date
    assert.equal(time?.occurs, 'twice')
    assert.equal(utc(time?.instantMs), '2025-10-26T00:30:00.000Z')
    assert.equal(utc(time?.secondMs), '2025-10-26T01:30:00.000Z')
    assert.equal(readWallTime('26-10-2025 00:59:59')?.occurs, 'once')
    assert.equal(readWallTime('26-10-2025 02:00:00')?.occurs, 'once')
  })

  it('is marked in the hour that spring skips (D24)', () => {
    const { quirks } = readPropertyPayload('{"update_date":"30-03-2025 01:30:00"}')
    assert.deepEqual(
      quirks.map(({ code }) => code),
      ['skipped_hour'],
    )
  })

  it('agrees with the platform about every hour of thirty years', () => {
    const format = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Europe/London',
      dateStyle: 'short',
      timeStyle: 'medium',
    })
    const hourMs = 3_600_000
    for (let at = Date.UTC(1990, 0, 1); at < Date.UTC(2038, 0, 1); at += 7 * hourMs) {
      const [date = '', clock = ''] = format.format(at).replaceAll('/', '-').split(', ')
      const time = readWallTime(`${date} ${clock}`)
      assert.ok(time && (time.instantMs === at || time.secondMs === at), `${date} ${clock}`)
    }
  })

  it('is left out and reported when it is not one', () => {
    for (const text of [
      '2025-01-15',
      '30-02-2025',
      '1-1-2025',
      '15-01-2025 24:00:00',
      '15-01-2025T12:00:00',
      '',
    ]) {
      assert.equal(readWallTime(text), undefined)
    }
    assert.deepEqual(quirkList({ create_date: '30-02-2025', update_date: 5 }), [
      'invalid_date /create_date',
      'invalid_date /update_date',
    ])
  })
})
