/** What is noted as sent equals what a consumer saw, whatever way it read (D17). */
import assert from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { disclosedContacts, recipientsOf, unknownTimes } from '../../src/index.ts'
import { call, contactGetPath, contactListPath as list, publish } from '../support/http-client.ts'
import type { Call } from '../support/http-client.ts'
import { contact, property } from '../support/property.ts'
import { startTestService, testEngines } from '../support/test-service.ts'
import type { TestService, TestServiceOptions } from '../support/test-service.ts'

const hourMs = 3_600_000
const startMs = Date.parse('2026-03-01T10:20:00Z')

interface Published {
  readonly id: string
  readonly contactRef: string
  readonly sequenceNumber: number
}

/** References of contacts in an answer, read from its bytes alone. */
function contactsIn(text: string): readonly string[] {
  return [...text.matchAll(/contact_ref\\":\\"([0-9a-f-]{36})/g)].map(([, ref]) => ref ?? '')
}

async function publishContacts(service: TestService, refs: readonly string[]): Promise<readonly Published[]> {
  const events = refs.map((contact_ref) => ({ payload: contact({ contact_ref, notes: randomUUID() }) }))
  const receipt = await publish(service, events, { feed: 'contact' })
  return receipt.events.map(({ id, sequenceNumber }, index) => {
    return { id, sequenceNumber, contactRef: refs[index] ?? '' }
  })
}

/** One read by a random route. */
function randomRead(published: readonly Published[]): readonly [string, Call] {
  const one = published[randomInt(published.length)] ?? published[0]
  const coding = randomInt(2) === 0 ? 'gzip' : 'identity'
  const options: Call = { headers: { 'accept-encoding': coding } }
  const number = one?.sequenceNumber ?? 0
  const paths = [
    `${list}?page=${randomInt(1, 9)}&pageSize=${randomInt(1, 40)}`,
    `${list}?page=1&pageSize=10&from=2026-01-01&to=2027-01-01`,
    `${list}?page=${randomInt(1, 3)}&pageSize=100`,
    `${contactGetPath}/${one?.id}`,
    `/v1/contacts/${one?.contactRef}`,
    `/v1/contacts/${one?.contactRef}/history`,
    `/v1/contact-events?after=${number}&limit=${randomInt(1, 20)}`,
    `/v1/contact-events/snapshot?after=${Math.max(0, number - 30)}&head=${number}`,
  ]
  return [paths[randomInt(paths.length)] ?? list, options]
}

const ways: readonly (readonly [string, TestServiceOptions])[] = [
  ...testEngines.map((engine) => [engine, { engine }] as const),
  ['sqlite by Node’s HTTP alone', { plainConnections: false }],
]

describe('what is noted as sent', () => {
  for (const [name, options] of ways) {
    it(`is what a consumer saw, by pages, windows, runs, snapshots, ids and histories, on ${name} (D17)`, async () => {
      let nowMs = startMs
      const service = await startTestService({ ...options, clock: () => nowMs })
      try {
        const refs = Array.from({ length: 120 }, () => randomUUID())
        const published = [...(await publishContacts(service, refs))]
        published.push(...(await publishContacts(service, refs.slice(0, 40))))
        await publish(service, { payload: property() })
        const { tenantId, readKey } = service.tenant
        const seen = new Map<string, Set<number>>()
        for (let read = 0; read < 60; read += 1) {
          if (read === 30) nowMs += 2 * hourMs
          const [path, given] = randomRead(published)
          const answer = await call(service, path, { ...given, key: readKey })
          assert.equal(answer.status, 200, `${path}: ${answer.text}`)
          const isGzip = answer.headers['content-encoding'] === 'gzip'
          const text = isGzip ? gunzipSync(answer.body).toString() : answer.text
          const hour = Math.floor(nowMs / hourMs)
          for (const ref of contactsIn(text)) seen.set(ref, (seen.get(ref) ?? new Set()).add(hour))
        }
        const tagged = await call(service, `${list}?page=4&pageSize=40`, { key: readKey })
        const byId = await call(service, `${contactGetPath}/${published[0]?.id}`, { key: readKey })
        const hourNow = Math.floor(nowMs / hourMs)
        for (const ref of contactsIn(tagged.text + byId.text)) {
          seen.set(ref, (seen.get(ref) ?? new Set()).add(hourNow))
        }
        // Another key is sent nothing: a head, a page it has already, an error, and what is no contact.
        const quiet = await service.issue({
          grants: [{ tenantId, scopes: ['contact:read', 'property:read'] }],
        })
        await call(service, `${list}?page=4&pageSize=40`, { method: 'HEAD', key: quiet.text })
        const etag = tagged.headers.etag ?? ''
        const same = { key: quiet.text, headers: { 'if-none-match': etag } }
        assert.equal((await call(service, `${list}?page=4&pageSize=40`, same)).status, 304)
        await call(service, `${list}?page=0`, { key: quiet.text })
        await call(service, `/v1/contacts/${randomUUID()}`, { key: quiet.text })
        await call(service, '/v1/property-events?after=0', { key: quiet.text })
        await call(service, `${list}?page=99`, { key: quiet.text })
        // Adds what is noted.
        await service.service.close()

        const { ledger } = service.storage
        assert.deepEqual(await ledger.openRuns(), [])
        const keyId = readKey.split('_')[1] ?? ''
        const whole = { keyId, fromMs: 0, toMs: Date.now() + hourMs, nowMs: Date.now() + hourMs }
        assert.deepEqual(await unknownTimes(service.storage, whole), [])
        const exposed = await Array.fromAsync(disclosedContacts(service.storage, whole))
        assert.deepEqual(
          exposed.map((one) => one.tenantId),
          [tenantId],
        )
        assert.deepEqual(
          exposed[0]?.contacts.map(({ contactRef, firstMs, lastMs, certainty }) => {
            return [contactRef, firstMs / hourMs, lastMs / hourMs - 1, certainty]
          }),
          [...seen]
            .map(([ref, hours]) => [ref, Math.min(...hours), Math.max(...hours), 'sent'] as const)
            .toSorted(([a], [b]) => (a < b ? -1 : 1)),
        )
        const ofQuiet = { ...whole, keyId: quiet.keyId }
        assert.deepEqual(await Array.fromAsync(disclosedContacts(service.storage, ofQuiet)), [])
        const sample = published.slice(0, 1).map((event, index) => ({ ...event, position: index + 1 }))
        const recipients = await recipientsOf(service.storage, { tenantId, feed: 'contact' }, sample)
        assert.deepEqual(
          recipients.map((one) => [one.keyId, one.events]),
          [[keyId, 1]],
        )
        // Asked for from the middle of the first hour on: what was sent in that hour is possibly meant.
        const part = { ...whole, fromMs: startMs + 1, toMs: startMs + hourMs }
        for await (const { contacts } of disclosedContacts(service.storage, part)) {
          assert(contacts.every(({ certainty }) => certainty === 'possibly'))
          const inFirst = [...seen.values()].filter((hours) => hours.has(Math.floor(startMs / hourMs)))
          assert.equal(contacts.length, inFirst.length)
        }
      } finally {
        await service.stop()
      }
    })
  }
})
