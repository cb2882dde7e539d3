/** Retention as clients see it (PROTOCOL §5.7, D17). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ticksPerSecond } from '@property-events/protocol'
import type { FeedKey } from '../../src/index.ts'
import { addressesOf, publishCanary, readAll, showing, tagsOf } from '../support/canary.ts'
import type { Erased } from '../support/canary.ts'
import { call, getPath, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { contact, property } from '../support/property.ts'
import type { TestService } from '../support/test-service.ts'

/** As if everything there is were old enough. */
async function thinAll({ storage }: TestService, key: FeedKey): Promise<number> {
  const later = BigInt(Date.now()) * (ticksPerSecond / 1_000n) + 3_600n * ticksPerSecond
  for (let events = 0; ;) {
    const span = { key, before: later, supersededBefore: later }
    const outcome = await storage.retention.thin(span, 100, 'test')
    if (outcome.kind !== 'thinned') return events
    events += outcome.events
  }
}

/** A last version of each without the canary. */
async function supersede(service: TestService, subjects: readonly Erased[]): Promise<void> {
  for (const { feed, subjectId } of subjects) {
    const payload =
      feed === 'property' ? property({ agent_ref: subjectId }) : contact({ contact_ref: subjectId })
    await publish(service, [{ payload }], { feed })
  }
}

onEngines('retention', {}, (service) => {
  it('leaves superseded payloads in no answer, nor under an old tag; numbers, dates and the revision stay (D17, D4)', async () => {
    const subjects = await publishCanary(service())
    await supersede(service(), subjects)
    const addresses = addressesOf(subjects)
    for (let round = 0; round < 2; round += 1) await readAll(service(), addresses)
    const before = await readAll(service(), addresses)
    assert.ok(showing(before).length > 20, 'most of them show it')
    const all = `${listPath}?pageSize=1000`
    const read = async () => call(service(), all, { key: service().tenant.readKey })
    const first = await read()
    const { tenantId } = service().tenant
    for (const { feed, subjectId, ids } of subjects) {
      const of = feed === 'property' ? 'properties' : 'contacts'
      const key = service().tenant.readKey
      const { text } = await call(service(), `/v1/${of}/${subjectId}/history`, { key })
      const history = (JSON.parse(text) as { items: readonly { id: string; eventTypeShortCode: string }[] })
        .items
      // The property that takes the canary's place is in another category: the service has published a departure from the old one.
      const derived = history.slice(0, -1).filter(({ id }) => !ids.includes(id))
      const departures = feed === 'property' ? ['PropertyUnpublished'] : []
      assert.deepEqual(
        derived.map(({ eventTypeShortCode }) => eventTypeShortCode),
        departures,
      )
      assert.equal(await thinAll(service(), { tenantId, feed }), ids.length + departures.length)
    }
    const after = await readAll(service(), addresses, tagsOf(before))
    assert.deepEqual(showing(after), [])
    assert.deepEqual(showing(await readAll(service(), addresses)), [], 'and again, ready-made')
    const second = await read()
    const frames = (answer: typeof first) => pageOf(answer).items.map((item) => ({ ...item, payload: '' }))
    assert.deepEqual(frames(second), frames(first))
    assert.equal(second.headers['x-feed-revision'], first.headers['x-feed-revision'])
    assert.notEqual(second.headers.etag, first.headers.etag)
    const [thinned] = subjects
    const event = await call(service(), `${getPath}/${thinned?.ids[0]}`, { key: service().tenant.readKey })
    const { payload } = JSON.parse(event.text) as { payload: string }
    assert.deepEqual(JSON.parse(payload), { agent_ref: thinned?.subjectId, published: false, thinned: true })
  })

  it('keeps tags valid if nothing was thinned, and answers 304 again after it was (D4)', async () => {
    const asked = async (etag?: string) =>
      call(service(), listPath, {
        key: service().tenant.readKey,
        headers: etag === undefined ? {} : { 'if-none-match': etag },
      })
    const { tenantId } = service().otherTenant
    const before = await asked()
    assert.equal(await thinAll(service(), { tenantId, feed: 'property' }), 0)
    assert.equal((await asked(before.headers.etag)).status, 304)
    const payload = property()
    await publish(service(), [{ payload }, { payload: { ...payload, status: 2 } }])
    const full = await asked()
    await thinAll(service(), { tenantId: service().tenant.tenantId, feed: 'property' })
    const thinned = await asked(full.headers.etag)
    assert.equal(thinned.status, 200)
    assert.equal((await asked(thinned.headers.etag)).status, 304)
  })

  it('keeps ids taken, and says that the content is gone (D14, D17)', async () => {
    const sent = { payload: property(), id: crypto.randomUUID() }
    await publish(service(), [sent])
    await publish(service(), [{ payload: { ...sent.payload, status: 2 } }])
    await thinAll(service(), { tenantId: service().tenant.tenantId, feed: 'property' })
    const again = await call(service(), '/v1/property-events', {
      method: 'POST',
      key: service().tenant.publishKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(sent),
    })
    assert.deepEqual([again.status, problemOf(again).code], [409, 'id_conflict'])
    assert.match(problemOf(again).errors?.[0]?.message ?? '', /content has been erased, or was not kept/)
  })
})
