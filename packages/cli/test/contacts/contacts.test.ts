/** Finding a contact, and giving all that is held about one. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { erasureReasons, uuidV7 } from '@property-events/protocol'
import { openStorage } from '@property-events/server'
import { contactMatcher } from '../../src/contacts/match.ts'
import type { SearchKind } from '../../src/contacts/match.ts'
import { makeTenant } from '../support/make-tenant.ts'
import { removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

const jane = {
  contact_ref: randomUUID(),
  title: 'Dr',
  first_name: 'Jane',
  middle_name: 'Ann',
  last_name: 'O’Neill',
  company_name: 'Neill  & Sons Ltd',
  communications: [
    { channel: 'email', value: 'Jane.ONeill@Example.com' },
    { channel: 'mobile', value: '+44 (0)7700 900 123' },
    { channel: 'phone', value: '+33 1 23 45 67 89' },
    { channel: 'post' },
    null,
  ],
}

describe('a contact is found by', () => {
  const finds = (kind: SearchKind, text: string, payload: unknown = jane) =>
    contactMatcher(kind, text)?.(payload)?.closeness

  it('an e-mail address in whatever case; one that is nearly the same is a candidate', () => {
    assert.equal(finds('email', ' jane.oneill@EXAMPLE.com '), 'exact')
    for (const near of [
      'jane.oneill@example.co',
      'janeoneill+rent@example.org',
      'jane.oneil@example.com',
      'xjane.oneill@example.com',
    ])
      assert.equal(finds('email', near), 'similar', near)
    for (const other of ['oneill@example.com', 'john@example.com'])
      assert.equal(finds('email', other), undefined, other)
    for (const written of [
      'Jane <jane.oneill@example.com>',
      'mailto:jane.oneill@example.com',
      'x@example.org; jane.oneill@example.com.',
    ])
      assert.equal(finds('email', 'jane.oneill@example.com', { notes: written }), 'exact', written)
    for (const none of ['', 'jane', '@']) assert.equal(contactMatcher('email', none), undefined)
  })

  it('a number, however it is written; without its area code or with a wrong digit it is a candidate', () => {
    for (const same of [
      '07700900123',
      '+447700900123',
      '0044 7700 900123',
      '+44(0)7700-900-123',
      '07700 900.123',
    ])
      assert.equal(finds('phone', same), 'exact', same)
    assert.equal(finds('phone', '0033123456789'), 'exact')
    for (const near of ['7700900123', '07700900124', '900 123', '0770090012'])
      assert.equal(finds('phone', near), 'similar', near)
    assert.equal(finds('phone', '00 123 45'), undefined)
    for (const written of [
      '07700 900123 (after 6pm)',
      'tel:+447700900123',
      '07700 900123 / 020 7946 0958',
      '+44 (0) 7700\u2011900123',
      '07700 900123 ext 12',
    ]) {
      const payload = { communications: [{ channel: 'mobile', value: written }] }
      assert.equal(finds('phone', '07700 900123 mobile', payload), 'exact', written)
    }
    for (const none of ['', '12', 'ring me', '0770x']) assert.equal(contactMatcher('phone', none), undefined)
  })

  it('a surname alone, a name in any order, or a company’s', () => {
    for (const same of [
      'O’Neill',
      'oneill',
      'O Neill',
      'Mrs O’Neill',
      "jane o'neill",
      'O’NEILL, Jane',
      'Dr Jane O’Neill',
      'JANE  ANN O’NEILL',
      'dr o`neill',
      'neill & sons ltd',
    ])
      assert.equal(finds('name', same), 'exact', same)
    const welsh = { first_name: 'Siân', last_name: 'Llŷr-Kowalczyk' }
    for (const same of [
      'sian llyr',
      'Siân Llŷr',
      'SIÂN LLŶR',
      'Sia\u0302n Lly\u0302r',
      'Kowalczyk',
      'llyrkowalczyk',
    ])
      assert.equal(finds('name', same, welsh), 'exact', same)
    const polish = { first_name: 'Łucja', last_name: 'Błaszczak' }
    for (const same of ['lucja blaszczak', 'BŁASZCZAK', 'Mrs Blaszczak'])
      assert.equal(finds('name', same, polish), 'exact', same)
    for (const none of [' ', '👋', '…']) assert.equal(contactMatcher('name', none), undefined)
  })

  it('a similar spelling, a maiden name beside the first name, or a mention, as a candidate', () => {
    const kowalczyk = { first_name: 'Agnieszka', last_name: 'Kowalczyk' }
    for (const near of ['Kovalczyk', 'Kowalchik', 'Kowal', 'Agnieszka Nowak', 'Kowalczykowa'])
      assert.equal(finds('name', near, kowalczyk), 'similar', near)
    for (const mention of [
      { salutation: 'Mrs Kowalczyk' },
      { notes: 'Viewed 12 Heol y Bont – £950 pcm – with Mrs Kowalczyk 🏠' },
      { communications: [{ channel: 'email', value: 'a.kowalczyk@example.com' }] },
      { communications: [{ channel: 'email', value: 'zkowalczyk@example.com' }] },
      { previous_names: ['Nowak', { until: 'Kowalczyk 💍' }] },
    ])
      assert.equal(finds('name', 'Kowalczyk', mention), 'similar', JSON.stringify(mention))
    assert.equal(finds('name', 'Jo Ng', { first_name: 'Joanna', last_name: 'Ng' }), 'similar')
    for (const other of ['Smith', 'Kim', 'Jo'])
      assert.equal(finds('name', other, kowalczyk), undefined, other)
  })

  it('a postal address or its postcode', () => {
    const there = {
      address: {
        house_name_number: '12',
        address_2: 'Heol y Bont',
        town: 'Tŷ Ddewi',
        postcode_1: 'SA62',
        postcode_2: '6AB',
      },
    }
    for (const same of ['SA62 6AB', 'sa626ab', '12 heol y bont', 'Heol-y-Bont, Ty Ddewi'])
      assert.equal(finds('address', same, there), 'exact', same)
    assert.equal(finds('address', '12 Heol y Pont', there), 'similar')
    assert.equal(finds('address', 'CF10 1BH', there), undefined)
  })

  it('nothing in a payload that lacks it, or that has been reduced', () => {
    for (const payload of [
      {},
      { contact_ref: randomUUID(), erased: true },
      null,
      { communications: 'none', address: 7 },
    ]) {
      assert.equal(finds('email', 'a@b.c', payload), undefined)
      assert.equal(finds('phone', '07700900123', payload), undefined)
      assert.equal(finds('name', 'Jane O’Neill', payload), undefined)
      assert.equal(finds('address', 'SA62 6AB', payload), undefined)
    }
  })
})

describe('contacts of a store', () => {
  const folder = temporaryFolder()
  let service: Running
  let tenantId: string
  let readKey: string
  let publishKey: string
  let data: readonly string[]
  before(async () => {
    service = await start(['serve', '--data', folder])
    const store = ['--data', folder]
    const made = await makeTenant({ data: folder }, 'Hill & Co', { read: ['read'], publish: ['publish'] })
    tenantId = made.tenantId
    readKey = made.keys.read.key
    publishKey = made.keys.publish.key
    data = [...store, '--tenant', tenantId]
    const publish = async (payloads: readonly unknown[]): Promise<void> => {
      const answer = await fetch(`${service.line.url}/v1/contact-events`, {
        method: 'POST',
        headers: { 'x-api-key': publishKey, 'content-type': 'application/json' },
        body: JSON.stringify(payloads.map((payload) => ({ payload }))),
      })
      assert.equal(answer.status, 201, await answer.text())
    }
    const others = Array.from({ length: 600 }, (_, n) => {
      return { contact_ref: randomUUID(), first_name: 'Other', last_name: `Person ${n}` }
    })
    await publish([{ ...jane, notes: 'first' }, ...others])
    await publish([{ ...jane, notes: 'second' }])
  })
  after(async () => {
    await service.stop('SIGKILL')
    removeFolder(folder)
  })

  /** Erases a contact at the store, to its end. */
  async function erase(contactRef: string): Promise<void> {
    await using storage = await openStorage({ kind: 'sqlite', folder, create: false })
    const erasureId = uuidV7(Date.now())
    const begun = await storage.erasures.begin({
      erasureId,
      key: { tenantId, feed: 'contact' },
      target: { kind: 'subject', subjectId: contactRef },
      reason: erasureReasons[0],
      caseRef: undefined,
      receivedOn: undefined,
      actor: 'cli:test',
      closingEventId: randomUUID(),
    })
    assert.equal(begun.kind, 'begun')
    while ((await storage.erasures.reduce(erasureId, 10)).kind === 'reduced');
  }

  interface Search {
    readonly found: readonly {
      readonly contactRef: string
      readonly sequenceNumber: number
      readonly closeness: string
      readonly text: string
    }[]
    readonly searched: { readonly contacts: number; readonly events: number }
  }
  const find = (...args: readonly string[]) => runJson<Search>(['contacts', 'find', ...args, ...data])

  it('are searched in every event, superseded ones too, and the audit says that and never for whom', async () => {
    for (const args of [
      ['--email', 'jane.oneill@example.com'],
      ['--phone', '07700 900123'],
      ['--name', 'O’Neill'],
    ]) {
      const { found, searched } = await find(...args)
      const [first] = found
      assert.deepEqual(
        [first?.contactRef, first?.sequenceNumber, first?.closeness],
        [jane.contact_ref, 602, 'exact'],
      )
      assert.deepEqual(searched, { contacts: 601, events: 602 })
    }
    const other = await find('--name', 'Person 599')
    assert.deepEqual(
      other.found.filter(({ closeness }) => closeness === 'exact').map(({ text }) => text),
      ['Other Person 599'],
    )
    assert.equal(other.found.length, 50)
    const none = await run(['contacts', 'find', '--email', 'nobody@example.com', ...data])
    assert.match(
      none.stdout,
      /^No match, and nothing similar\.\nSearched: e-mail addresses in every text of 601 contacts in 602 events, superseded ones included\.\nNot searched: other tenants, /,
    )
    const args = ['audit', 'list', '--action', 'contacts.searched', '--data', folder]
    const rows = await runJson<readonly { tenant: string; detail: unknown }[]>(args)
    assert.deepEqual(
      rows.map(({ detail }) => detail),
      [
        { by: 'email', found: 0 },
        { by: 'name', found: 600 },
        { by: 'name', found: 1 },
        { by: 'phone', found: 1 },
        { by: 'email', found: 1 },
      ],
    )
    assert(rows.every(({ tenant }) => tenant === tenantId))
  })

  it('are found by a name they no longer have, until it is erased (D17)', async () => {
    const contactRef = randomUUID()
    const publish = async (payload: object): Promise<void> => {
      const answer = await fetch(`${service.line.url}/v1/contact-events`, {
        method: 'POST',
        headers: { 'x-api-key': publishKey, 'content-type': 'application/json' },
        body: JSON.stringify({ payload: { contact_ref: contactRef, ...payload } }),
      })
      assert.equal(answer.status, 201, await answer.text())
    }
    await publish({ first_name: 'Agnieszka', last_name: 'Kowalczyk' })
    await publish({ first_name: 'Agnieszka', last_name: 'Llŷr', notes: '£950 pcm – Caerdydd 🏠' })
    const before = await run(['contacts', 'find', '--name', 'Mrs Kowalczyk', ...data])
    assert.match(before.stdout, new RegExp(`${contactRef} +exact +Agnieszka Kowalczyk +`))
    await erase(contactRef)
    const after = await run(['contacts', 'find', '--name', 'Kowalczyk', ...data])
    assert.match(after.stdout, /^No match[^]*have no payload any more/)
  })

  it('are given with their erasures, of which they are then all that is left', async () => {
    const contactRef = randomUUID()
    const publish = {
      method: 'POST',
      headers: { 'x-api-key': publishKey, 'content-type': 'application/json' },
    }
    const body = JSON.stringify({ payload: { contact_ref: contactRef, last_name: 'Hidden' } })
    assert.equal((await fetch(`${service.line.url}/v1/contact-events`, { ...publish, body })).status, 201)
    await erase(contactRef)
    const { code, stdout } = await run(['contacts', 'export', contactRef, ...data])
    assert.equal(code, 0)
    assert(!stdout.includes('Hidden'))
    assert.match(stdout, /Erasures:\nstarted \(UTC\) +receipt +reason +state\n20/)
    assert.match(stdout, /cli:test +erasure\.begun/)
  })

  it('are erased with a receipt that names who had been sent them', async () => {
    const contactRef = randomUUID()
    const keyFor = (...words: readonly string[]) =>
      runJson<{ key: string; keyId: string }>(['keys', 'create', ...words, ...data])
    const portal = await keyFor('--scope', 'contact:read', '--label', 'Portal')
    const { key: eraseKey } = await keyFor('--scope', 'contact:erase')
    const published = await fetch(`${service.line.url}/v1/contact-events`, {
      method: 'POST',
      headers: { 'x-api-key': publishKey, 'content-type': 'application/json' },
      body: JSON.stringify({ payload: { contact_ref: contactRef, last_name: 'Hidden' } }),
    })
    assert.equal(published.status, 201)
    const read = await fetch(`${service.line.url}/v1/contacts/${contactRef}`, {
      headers: { 'x-api-key': portal.key },
    })
    assert.equal(read.status, 200, await read.text())
    const environment = { PROPERTY_EVENTS_URL: service.line.url, PROPERTY_EVENTS_KEY: eraseKey }
    const erased = await run(['contacts', 'erase', contactRef, '--case', 'DSR-1'], { environment })
    assert.equal(erased.code, 0, erased.stderr)
    const hours = String.raw`20\d\d-\d\d-\d\d \d\d:00 to (20\d\d-\d\d-\d\d )?\d\d:00`
    const row = `${portal.keyId} +Portal +1 +${hours} +not yet +not yet`
    assert.match(erased.stdout, /^started +20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/m)
    assert.match(erased.stdout, new RegExp(`\\nrecipients\\n +key +label .*\\n +${row}\\nnot covered\\n`))
    const { id } =
      (await runJson<readonly { id: string }[]>(['erasures', 'list'], { environment })).at(-1) ?? {}
    const shown = await run(['erasures', 'show', id ?? ''], { environment })
    assert.equal(shown.stdout, erased.stdout)
  })

  it('are given whole: every event, who was sent them, and the rows of the audit', async () => {
    const read = await fetch(`${service.line.url}/v1/contacts/${jane.contact_ref}`, {
      headers: { 'x-api-key': readKey },
    })
    assert.equal(read.status, 200, await read.text())
    const exporting = ['contacts', 'export', jane.contact_ref, ...data]
    interface Held {
      readonly events: readonly { readonly payload: { readonly notes: string } }[]
      readonly audit: readonly { readonly action: string }[]
    }
    await runJson<Held>(exporting)
    const held = await runJson<Held>(exporting)
    assert.deepEqual(
      held.events.map(({ payload }) => payload.notes),
      ['first', 'second'],
    )
    assert.deepEqual(
      held.audit.map(({ action }) => action),
      ['contacts.exported'],
    )
    // The node adds what it has sent when it stops.
    assert.equal((await service.stop()).code, 0)
    const shown = await run(exporting)
    assert.equal(shown.code, 0, shown.stderr)
    assert.match(shown.stdout, new RegExp(`^Contact ${jane.contact_ref} of `))
    assert.match(shown.stdout, /"notes": "second"/)
    const keyId = readKey.split('_')[1] ?? ''
    assert.match(shown.stdout, new RegExp(`Sent to:\\nkey +label +events .*\\n${keyId} .* 1 +20`))
    assert.match(shown.stdout, /contacts\.exported/)
  })

  it('are refused without showing what was given: it may be somebody’s name', async () => {
    const refusal = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await run(['contacts', ...args, ...data])
      assert.equal(code, 1)
      assert.equal(stdout, '')
      assert(!/Jane|07700/.test(stderr), stderr)
      return stderr
    }
    assert.match(await refusal('export', 'Jane ONeill'), /not the reference of a contact/)
    assert.match(await refusal('export', randomUUID()), /has no contact/)
    assert.match(await refusal('find'), /one of --name, --email, --phone and --address/)
    assert.match(await refusal('find', '--email', 'Jane'), /value of --email is not an e-mail address/)
    assert.match(
      await refusal('find', '--name', 'Jane X', '--phone', '07700900123'),
      /one of --name, --email, --phone and --address/,
    )
  })
})
