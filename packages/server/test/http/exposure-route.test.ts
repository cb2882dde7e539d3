/** Which contacts a key was sent, over HTTP (PROTOCOL §5.7, D28). */
import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { disclosedContacts } from '../../src/index.ts'
import { call, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact } from '../support/property.ts'

interface Exposed {
  readonly contactRef: string
  readonly certainty: string
  readonly firstSentAt: string
  readonly lastSentAt: string
}

interface Body {
  readonly contacts: readonly Exposed[]
  readonly unknownTimes: readonly unknown[]
  readonly next: string | null
}

const hourMs = 3_600_000

/** Asks over the one connection of the agent. */
function askOver(agent: Agent, port: number, path: string, key: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, path, agent, headers: { 'x-api-key': key } }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      answer.on('end', () => resolve(JSON.parse(text)))
    })
    asked.on('error', reject).end()
  })
}

onEngines('the exposure of a key', {}, (service) => {
  it('is returned page by page, from the store, to the agency that the contacts belong to (D17, P10)', async () => {
    const { storage, tenant, otherTenant } = service()
    const refs = Array.from({ length: 30 }, () => crypto.randomUUID())
    for (const { publishKey } of [tenant, otherTenant]) {
      const contacts = refs.map((contact_ref) => ({ payload: contact({ contact_ref }) }))
      await publish(service(), contacts, { feed: 'contact', key: publishKey })
    }
    const grants = [tenant, otherTenant].map(({ tenantId }) => ({
      tenantId,
      scopes: ['contact:read'] as const,
    }))
    const { keyId } = await service().issue({ grants })
    const { keyId: foreignId } = await service().issue({ grants: grants.slice(1) })
    const lastHour = Math.floor(Date.now() / hourMs) - 2
    const key = { tenantId: tenant.tenantId, feed: 'contact' } as const
    const piece = { key, keyId, block: 0, view: 'all' } as const
    // More than are read at once: in each hour another one, and in one hour by number.
    await storage.ledger.add(
      Array.from({ length: 250 }, (_, index) => {
        const position = (index % 20) + 1
        return { ...piece, hour: lastHour - index, ranges: [[position, position]] as const }
      }),
    )
    await storage.ledger.add([{ ...piece, view: 'numbers', hour: lastHour, ranges: [[25, 26]] }])
    const foreign = { key: { ...key, tenantId: otherTenant.tenantId }, keyId: foreignId }
    await storage.ledger.add([{ ...piece, ...foreign, hour: lastHour, ranges: [[1, 30]] }])

    const ask = (path: string, asking = tenant.eraseKey) =>
      call(service(), `/v1/exposure/${path}`, { key: asking })
    const found = new Map<string, Exposed>()
    let pages = 0
    for (let after = ''; ; pages += 1) {
      const answer = await ask(`${keyId}?from=2020-01-01${after}`)
      assert.equal(answer.status, 200, answer.text)
      const { contacts, next } = JSON.parse(answer.text) as Body
      for (const one of contacts) {
        const { firstSentAt, lastSentAt } = found.get(one.contactRef) ?? one
        found.set(one.contactRef, {
          ...one,
          firstSentAt: firstSentAt < one.firstSentAt ? firstSentAt : one.firstSentAt,
          lastSentAt: lastSentAt > one.lastSentAt ? lastSentAt : one.lastSentAt,
        })
      }
      if (next === null) break
      after = `&after=${next}`
    }
    assert.ok(pages >= 2, `${pages} pages`)
    const whole = { keyId, fromMs: Date.parse('2020-01-01'), toMs: Date.now(), nowMs: Date.now() }
    const [own] = await Array.fromAsync(disclosedContacts(storage, whole))
    const wanted = own?.contacts.map(({ contactRef, certainty, firstMs, lastMs }): Exposed => {
      const [firstSentAt, lastSentAt] = [new Date(firstMs).toISOString(), new Date(lastMs).toISOString()]
      return { contactRef, certainty, firstSentAt, lastSentAt }
    })
    assert.equal(wanted?.length, 22)
    assert.deepEqual(
      [...found.values()].toSorted((a, b) => (a.contactRef < b.contactRef ? -1 : 1)),
      wanted,
    )
    const rows = await storage.audit.read({ first: 'newest', action: 'exposure.listed', limit: 10 })
    assert.ok(rows !== 'unknownRow')
    assert.deepEqual(
      rows.map(({ tenant: of, target, actor }) => [of, target, actor]),
      [[tenant.tenantId, keyId, `key:${tenant.eraseKey.split('_')[1]}`]],
      'on record once, however many pages there are',
    )
    // Of the same key the other agency learns nothing of this one's contacts (P10).
    const others = JSON.parse((await ask(`${keyId}?from=2020-01-01`, otherTenant.eraseKey)).text) as Body
    assert.deepEqual([others.contacts, others.next], [[], null])
    for (const unknown of ['nobody', foreignId]) {
      const answer = await ask(unknown)
      assert.deepEqual([answer.status, problemOf(answer).code], [404, 'key_not_found'], unknown)
    }
  })

  it('reaches up to now, even if a connection asks for the same again (PROTOCOL §5.7, D17)', async () => {
    const { tenant, port } = service()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = async (): Promise<string> => {
      const path = `/v1/exposure/${tenant.readKey.split('_')[1]}`
      const body = await askOver(agent, port, path, tenant.eraseKey)
      return (body as { readonly to: string }).to
    }
    const first = await ask()
    while (Date.now() <= Date.parse(first)) await nextTurn()
    const second = await ask()
    agent.destroy()
    assert.ok(second > first, `${second} after ${first}`)
  })

  it('is refused for times and places that are none (P11, D19)', async () => {
    const { tenant } = service()
    const keyId = tenant.readKey.split('_')[1] ?? ''
    for (const query of [
      'from=yesterday',
      'to=',
      'after=nowhere',
      'after=all.1',
      'until=2026-01-01',
      'from=2026-02-01&to=2026-01-01',
    ]) {
      const answer = await call(service(), `/v1/exposure/${keyId}?${query}`, { key: tenant.eraseKey })
      assert.deepEqual([answer.status, problemOf(answer).code], [400, 'invalid_parameter'], query)
    }
    const { status } = await call(service(), `/v1/exposure/${keyId}`, { key: tenant.readKey })
    assert.equal(status, 403)
  })
})
