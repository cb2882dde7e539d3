/** Keeping a contact at the command line (PROTOCOL §5.7). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { makeTenant } from '../support/make-tenant.ts'
import { removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'
import type { Running } from '../support/program.ts'

interface Hold {
  readonly id: string
  readonly state: string
  readonly until: string
}

describe('what must be kept', () => {
  const folder = temporaryFolder()
  const store = ['--data', folder]
  const until = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)
  let service: Running
  let tenantId: string
  let keys: Readonly<Record<'read' | 'publish' | 'erase', string>>
  before(async () => {
    service = await start(['serve', ...store])
    const made = await makeTenant({ data: folder }, 'Hill & Co', {
      read: ['contact:read'],
      publish: ['contact:publish'],
      erase: ['contact:erase'],
    })
    tenantId = made.tenantId
    keys = { read: made.keys.read.key, publish: made.keys.publish.key, erase: made.keys.erase.key }
  })
  after(async () => {
    await service.stop('SIGKILL')
    removeFolder(folder)
  })

  const over = (): readonly string[] => ['--url', service.line.url, '--key', keys.erase]

  async function newContact(): Promise<string> {
    const contactRef = randomUUID()
    const answer = await fetch(`${service.line.url}/v1/contact-events`, {
      method: 'POST',
      headers: { 'x-api-key': keys.publish, 'content-type': 'application/json' },
      body: JSON.stringify({ payload: { contact_ref: contactRef, first_name: 'First', last_name: 'Kept' } }),
    })
    assert.equal(answer.status, 201, await answer.text())
    return contactRef
  }

  it('is listed in words where there is none yet (D17)', async () => {
    for (const [words, says] of [
      [['holds', 'list'], 'No holds.\n'],
      [['erasures', 'list'], 'No erasures yet.\n'],
      [['contacts', 'restrictions'], 'No restrictions.\n'],
    ] as const)
      assert.equal((await run([...words, ...over()])).stdout, says)
  })

  it('is put on hold, is not erased, is listed, and can be erased after the hold was ended (D17)', async () => {
    const ref = await newContact()
    const words = ['holds', 'add', ref, '--ground', 'legal_claim', '--until', until]
    const added = await run([...words, '--case', 'CLAIM-1', ...over()])
    assert.equal(added.code, 0, added.stderr)
    assert.match(
      added.stdout,
      new RegExp(`^The contact ${ref} is on hold until the end of ${until} \\(UTC\\)`),
    )
    const [hold] = await runJson<readonly Hold[]>(['holds', 'list', ...over()])
    assert.deepEqual([hold?.state, hold?.until], ['active', until])
    const { stdout } = await run(['holds', 'list', ...over()])
    assert.match(stdout, new RegExp(`${hold?.id} +contact +${ref} +legal_claim +${until} +active +CLAIM-1`))

    const refused = await run(['contacts', 'erase', ref, ...over()])
    assert.equal(refused.code, 1)
    assert.match(
      refused.stderr,
      new RegExp(
        `^The contact is on hold until the end of ${until} \\(UTC\\): hold ${hold?.id}\\. Nothing was changed\\. \\(409, on_hold`,
      ),
    )

    const wrong = await run(['holds', 'end', ref, ...over()])
    assert.match(wrong.stderr, /There is no hold .*holds list` lists/)
    const ended = await run(['holds', 'end', hold?.id ?? '', ...over()])
    assert.match(ended.stdout, /is no longer on hold/)
    const erased = await run(['contacts', 'erase', ref, ...over()])
    assert.equal(erased.code, 0, erased.stderr)
    const rows = await runJson<readonly { action: string; target: string }[]>([
      'audit',
      'list',
      ...store,
      '--tenant',
      tenantId,
    ])
    const about = rows.filter(({ target }) => target === hold?.id).map(({ action }) => action)
    assert.deepEqual(about.toSorted(), ['hold.added', 'hold.ended'])
    const audit = await run(['audit', 'list', ...store])
    assert.match(audit.stdout, /feed contact; ground legal claim; until \d{4}-\d\d-\d\d 00:00:00\n/)
  })

  it('is restricted: shown to nobody but those who may reveal it, and shown again after it (D17)', async () => {
    const ref = await newContact()
    const read = async (): Promise<string> => {
      const headers = { 'x-api-key': keys.read }
      return (await fetch(`${service.line.url}/v1/contacts/${ref}/history`, { headers })).text()
    }
    const restricted = await run(['contacts', 'restrict', ref, '--case', 'R-1', ...over()])
    assert.equal(restricted.code, 0, restricted.stderr)
    assert.match(restricted.stdout, new RegExp(`^The contact ${ref} is kept, and no answer shows it`))
    assert.ok(!(await read()).includes('Kept'))
    const { stdout } = await run(['contacts', 'restrictions', ...over()])
    assert.match(stdout, new RegExp(`${ref} +accuracy_contested +restricted +R-1`))
    // At the command line of the store it is found and exported, as a request for access needs it.
    const asked = [...store, '--tenant', tenantId]
    const exported = await run(['contacts', 'export', ref, ...asked])
    assert.match(exported.stdout, /"last_name": "Kept"/)
    assert.match(exported.stdout, /Restrictions:\nstarted/)
    assert.match(exported.stdout, /restriction\.begun/)
    const { found } = await runJson<{ found: readonly { contactRef: string }[] }>([
      'contacts',
      'find',
      '--name',
      'First Kept',
      ...asked,
    ])
    assert.deepEqual(
      found.filter(({ contactRef }) => contactRef === ref).map(({ contactRef }) => contactRef),
      [ref],
    )
    const lifted = await run(['contacts', 'unrestrict', ref, ...over()])
    assert.match(lifted.stdout, /is no longer restricted/)
    assert.equal((await read()).split('Kept').length - 1, 2, 'as it was, and published again')
    const none = await run(['contacts', 'unrestrict', ref, ...over()])
    assert.match(none.stderr, /is not restricted/)
  })

  it('requires a ground, a day and a reference that the service knows, and says what to do', async () => {
    const ref = await newContact()
    const faults: readonly (readonly [readonly string[], RegExp])[] = [
      [['holds', 'add', ref, '--until', until], /--ground/],
      [
        ['holds', 'add', ref, '--ground', 'gossip', '--until', until, ...over()],
        /ground must be one of legal_claim/,
      ],
      [['holds', 'add', ref, '--ground', 'complaint', '--until', '2001-01-01', ...over()], /today or later/],
      [['holds', 'add', 'Jane', '--ground', 'complaint', '--until', until, ...over()], /a UUID/],
      [
        ['holds', 'add', ref, '--feed', 'x', '--ground', 'complaint', '--until', until, ...over()],
        /--feed is "x", but must be/,
      ],
      [['holds', 'end', randomUUID(), ...over()], /There is no hold/],
      [['holds', 'end', 'one', ...over()], /is not the id of a hold, a UUID/],
    ]
    for (const [args, words] of faults) {
      const { code, stderr } = await run(args)
      assert.equal(code, 1, args.join(' '))
      assert.match(stderr, words)
    }
  })
})
