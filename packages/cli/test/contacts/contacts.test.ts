/** Finding a contact, and giving all that is held about one. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { erasureReasons, uuidV7 } from '@property-events/protocol'
import { openStorage } from '@property-events/server'
import { contactMatch } from '../../src/contacts/find.ts'
import type { SearchKind } from '../../src/contacts/find.ts'
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

describe('a contact is found by exactly', () => {
  const finds = (kind: SearchKind, text: string, payload: unknown = jane): boolean | undefined =>
    contactMatch(kind, text)?.(payload)

  it('an e-mail address, in whatever case', () => {
    assert.equal(finds('email', ' jane.oneill@EXAMPLE.com '), true)
    for (const other of ['jane.oneill@example.co', 'oneill@example.com', 'xjane.oneill@example.com'])
      assert.equal(finds('email', other), false, other)
    for (const none of ['', 'jane', 'a@b@c', 'a b@c']) assert.equal(contactMatch('email', none), undefined)
  })

  it('a number, however it is written', () => {
    for (const same of [
      '07700900123',
      '+447700900123',
      '0044 7700 900123',
      '+44(0)7700-900-123',
      '07700 900.123',
    ])
      assert.equal(finds('phone', same), true, same)
    assert.equal(finds('phone', '0033123456789'), true)
    for (const other of ['7700900123', '07700900124', '0770090012', '00 123 45']) {
      assert.equal(finds('phone', other), false, other)
    }
    for (const none of ['', '12', 'ring me', '0770x']) assert.equal(contactMatch('phone', none), undefined)
  })

  it('a name in the usual forms, or a company’s', () => {
    for (const same of [
      "jane o'neill",
      'Dr Jane O’Neill',
      'JANE  ANN O’NEILL',
      'dr o`neill',
      'neill & sons ltd',
    ])
      assert.equal(finds('name', same), true, same)
    const welsh = { first_name: 'Siân', last_name: 'Llŷr' }
    for (const same of ['sian llyr', 'Siân Llŷr', 'SIÂN LLŶR', 'Sia\u0302n Lly\u0302r']) {
      assert.equal(finds('name', same, welsh), true, same)
    }
    for (const other of ['Jane', 'O’Neill', 'Neill', 'Jane O’Neil']) assert.equal(finds('name', other), false)
    assert.equal(contactMatch('name', ' '), undefined)
  })

  it('nothing in a payload that lacks it, or that has been reduced', () => {
    for (const payload of [
      {},
      { contact_ref: randomUUID(), erased: true },
      null,
      { communications: 'none' },
    ]) {
      assert.equal(finds('email', 'a@b.c', payload), false)
      assert.equal(finds('phone', '07700900123', payload), false)
      assert.equal(finds('name', 'Jane O’Neill', payload), false)
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

  interface Search {
    readonly found: readonly { readonly contactRef: string; readonly sequenceNumber: number }[]
    readonly searched: number
  }
  const find = (...args: readonly string[]) => runJson<Search>(['contacts', 'find', ...args, ...data])

  it('are searched by their latest payloads, all of them, and the audit says that and never for whom', async () => {
    for (const args of [
      ['--email', 'jane.oneill@example.com'],
      ['--phone', '07700 900123'],
      ['--name', 'Jane O’Neill'],
    ]) {
      const { found, searched } = await find(...args)
      assert.deepEqual(
        found.map(({ contactRef, sequenceNumber }) => [contactRef, sequenceNumber]),
        [[jane.contact_ref, 602]],
      )
      assert.equal(searched, 601)
    }
    assert.equal((await find('--name', 'Other Person 599')).found.length, 1)
    const none = await run(['contacts', 'find', '--email', 'nobody@example.com', ...data])
    assert.equal(none.stdout, 'No match among 601 contacts.\n')
    const args = ['audit', 'list', '--action', 'contacts.searched', '--data', folder]
    const rows = await runJson<readonly { tenant: string; detail: unknown }[]>(args)
    assert.deepEqual(
      rows.map(({ detail }) => detail),
      [
        { by: 'email', found: 0 },
        { by: 'name', found: 1 },
        { by: 'name', found: 1 },
        { by: 'phone', found: 1 },
        { by: 'email', found: 1 },
      ],
    )
    assert(rows.every(({ tenant }) => tenant === tenantId))
  })

  it('are given with their erasures, of which they are then all that is left', async () => {
    const contactRef = randomUUID()
    const publish = {
      method: 'POST',
      headers: { 'x-api-key': publishKey, 'content-type': 'application/json' },
    }
    const body = JSON.stringify({ payload: { contact_ref: contactRef, last_name: 'Hidden' } })
    assert.equal((await fetch(`${service.line.url}/v1/contact-events`, { ...publish, body })).status, 201)
    {
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
    assert.match(await refusal('find'), /one of --email, --phone and --name/)
    assert.match(await refusal('find', '--email', 'Jane'), /value of --email is not an e-mail address/)
    assert.match(
      await refusal('find', '--name', 'Jane X', '--phone', '07700900123'),
      /one of --email, --phone and --name/,
    )
  })
})
