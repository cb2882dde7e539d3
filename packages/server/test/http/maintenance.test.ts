import assert from 'node:assert/strict'
import { it } from 'node:test'
import { call, listPath, pageOf, problemOf, publish } from '../support/http-client.ts'
import { onEngines } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { until } from '../support/until.ts'

// How long a node uses what it knows is a test of its own (maintenance/watch.test.ts): here it would be a second for each change.
onEngines('maintenance', { maintenanceFreshMs: 50 }, (service) => {
  const post = ({ query = '', body = JSON.stringify({ payload: property() }) } = {}) =>
    call(service(), `/v1/property-events${query}`, {
      method: 'POST',
      key: service().tenant.publishKey,
      headers: { 'content-type': 'application/json' },
      body,
    })
  const list = () => call(service(), `${listPath}?pageSize=1`, { key: service().tenant.readKey })
  const operations = async (path: string) => {
    const answer = await fetch(new URL(path, service().service.metricsUrl))
    return { status: answer.status, text: await answer.text() }
  }
  const begin = async (retryAfterSeconds: number) => {
    await service().storage.setMaintenance({ sinceMs: Date.now(), retryAfterSeconds }, 'cli:test')
    await until(async () => (await post()).status === 503, { what: 'a refused publication' })
  }
  const end = async () => {
    await service().storage.setMaintenance(undefined, 'cli:test')
    await until(async () => (await post()).status === 201, { what: 'a stored publication' })
  }

  it('refuses every publication with its own code and Retry-After, stores nothing, and reading continues (P6)', async () => {
    await publish(service(), { payload: property() })
    await begin(77)
    const { availableCount } = pageOf(await list())
    for (const asked of [
      {},
      { query: '?dryRun=true' },
      { query: '?unchanged=skip' },
      { body: '{"not": "looked at"' },
    ]) {
      const answer = await post(asked)
      assert.equal(answer.status, 503, answer.text)
      assert.equal(problemOf(answer).code, 'maintenance')
      assert.equal(answer.headers['retry-after'], '77')
    }
    const page = await list()
    assert.equal(page.status, 200)
    assert.equal(pageOf(page).availableCount, availableCount)
    const open = await call(service(), `${listPath}?from=2020-01-01`, { key: service().tenant.readKey })
    assert.equal(open.status, 200, open.text)
    await end()
  })

  it('says nothing to a key that may not publish, which is refused as ever (D7)', async () => {
    await begin(30)
    const answer = await call(service(), '/v1/property-events', {
      method: 'POST',
      key: service().tenant.readKey,
      body: '{}',
    })
    assert.equal(problemOf(answer).code, 'missing_scope')
    await end()
  })

  it('is shown by readiness, which stays good, by a metric, and by two lines of the log (D9)', async () => {
    assert.deepEqual(await operations('/readyz'), { status: 200, text: 'ok\n' })
    assert.match((await operations('/metrics')).text, /^property_events_maintenance 0$/m)
    const before = service().logLines.length
    await begin(30)
    assert.deepEqual(await operations('/readyz'), { status: 200, text: 'maintenance\n' })
    const { text } = await operations('/metrics')
    assert.match(text, /^property_events_maintenance 1$/m)
    assert.match(
      text,
      /^property_events_publish_requests_total\{feed="property",outcome="maintenance"\} [1-9]/m,
    )
    await end()
    assert.deepEqual(await operations('/readyz'), { status: 200, text: 'ok\n' })
    const lines = service()
      .logLines.slice(before)
      .map((line) => JSON.parse(line) as { msg: string; level: number })
      .filter(({ msg }) => msg.startsWith('maintenance'))
    assert.deepEqual(
      lines.map(({ level }) => level),
      [40, 30],
    )
  })
})
