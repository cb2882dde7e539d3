import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { adviseShown, findUnknownFields } from '../../src/payload/index.ts'
import { nearestName } from '../../src/index.ts'
import { fullContact, rtdfRemoveProperty, rtdfSendProperty, specProperty, subject } from './samples.ts'

const pointers = (payload: unknown, feed: 'property' | 'contact' = 'property') =>
  findUnknownFields(feed, payload).misspelled.map(({ pointer }) => pointer)

describe('fields that the contract does not know', () => {
  it('are none in payloads of the specification, of RTDF and of contacts (spec §2.3)', () => {
    for (const payload of [specProperty, rtdfSendProperty, rtdfRemoveProperty]) {
      assert.deepEqual(findUnknownFields('property', payload).misspelled, [])
    }
    assert.equal(findUnknownFields('property', specProperty).others, 0)
    assert.deepEqual(findUnknownFields('contact', fullContact).misspelled, [])
    assert.equal(findUnknownFields('contact', fullContact).others, 0)
  })

  it('are named if they look like a known one, at every level', () => {
    const payload = {
      agent_ref: subject,
      adress: { town: 'Ely' },
      price_infomation: { price: 1 },
      address: { postcode1: 'CB7', displayAddress: 'Mill Lane' },
      price_information: { prise: 1, rent_frequncy: 3 },
      details: {
        bedroms: 3,
        recption_rooms: 1,
        rooms: [{ room_nme: 'Hall' }],
        epc_information: { curent_energy_rating: 'A' },
        obligations: { Listd: true },
        sizing: { minimun: 1 },
      },
      media: [null, { media_ulr: 'https://example.com/1.jpg' }],
      risks: { flood_defenses: true },
      principal: { principal_email_adress: 'a@example.com' },
    }
    assert.deepEqual(pointers(payload).toSorted(), [
      '/address/displayAddress',
      '/address/postcode1',
      '/adress',
      '/details/bedroms',
      '/details/epc_information/curent_energy_rating',
      '/details/obligations/Listd',
      '/details/recption_rooms',
      '/details/rooms/0/room_nme',
      '/details/sizing/minimun',
      '/media/1/media_ulr',
      '/price_infomation',
      '/price_information/prise',
      '/price_information/rent_frequncy',
      '/principal/principal_email_adress',
      '/risks/flood_defenses',
    ])
    const [first] = findUnknownFields('property', { adress: 1 }).misspelled
    assert.equal(first?.code, 'unknown_field')
    assert.match(first.message, /^adress is not a known field.*: address is probably meant\.$/)
  })

  it("are counted if they look like none: a publisher's own, and those with another number", () => {
    const own = {
      agent_ref: subject,
      crm_stage: 1,
      vendor_id: 2,
      address: { address_5: 'x', what3words: 'a.b.c' },
    }
    assert.deepEqual(findUnknownFields('property', own), { misspelled: [], others: 4 })
  })

  it('are reported once, however many items of a list have them', () => {
    const media = Array.from({ length: 30 }, () => ({ media_ulr: 'x', own: 1 }))
    const found = findUnknownFields('property', { media })
    assert.deepEqual([found.misspelled.length, found.others], [1, 30])
  })

  it('of a contact are named without their values (D18)', () => {
    const { misspelled } = findUnknownFields('contact', {
      contact_ref: subject,
      frist_name: 'Ada',
      communications: [{ chanel: 'email', vlaue: 'ada@example.com' }],
      'first_name\u001b': 'Quillon',
    })
    assert.deepEqual(
      misspelled.map(({ pointer }) => pointer),
      ['/frist_name', '/communications/0/chanel', '/first_name\u001b'],
    )
    assert.doesNotMatch(JSON.stringify(misspelled), /Ada|Quillon|example/)
  })

  it('are found in bounded work, and nothing is thrown, whatever a payload is (P11)', () => {
    const many = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`bedroom${index}x`, 1]))
    const { misspelled, others } = findUnknownFields('property', { details: many })
    assert.ok(misspelled.length <= 40)
    assert.equal(misspelled.length + others, 30_000)
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        findUnknownFields('property', value)
        findUnknownFields('contact', { communications: value, address: value })
        adviseShown(value)
      }),
    )
  })
})

describe('what consumers need of a property that is shown', () => {
  const told = (payload: unknown) => adviseShown(payload).map(({ pointer, code }) => `${pointer} ${code}`)
  const photograph = { media_type: 1, media_url: 'https://example.com/1.jpg' }

  it('is a price and a photograph', () => {
    assert.deepEqual(told({ price_information: { price: 1 }, media: [photograph] }), [])
    const price = '/price_information/price missing_price'
    for (const price_information of [undefined, null, {}, { price: null }, { deposit: 1 }]) {
      assert.deepEqual(told({ price_information, media: [photograph] }), [price])
    }
    for (const media of [
      undefined,
      null,
      [],
      [null],
      [{ ...photograph, media_type: 2 }],
      [{ media_type: 1 }],
      [{ ...photograph, media_url: 'https://pictures.example:99999/1.jpg' }],
    ]) {
      assert.deepEqual(told({ price_information: { price: 1 }, media }), ['/media no_photographs'])
    }
  })
})

describe('the name that was probably meant', () => {
  it('is the nearest of those that are near enough, in either case', () => {
    const names = ['page', 'pageSize', 'from', 'to']
    assert.equal(nearestName('pagesize', names), 'pageSize')
    assert.equal(nearestName('fom', names), 'from')
    assert.equal(nearestName('sort', names), undefined)
    assert.equal(nearestName('x'.repeat(100_000), names), undefined)
    assert.equal(nearestName('page', []), undefined)
  })
})
