/** The terms of a property on the command line, and how far back the record goes (PROTOCOL §14.8). */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, it } from 'node:test'
import type { PropertyTerms } from '@property-events/client'
import { property } from '../../../server/test/support/property.ts'
import { makeTenant } from '../support/make-tenant.ts'
import { listEvents, removeFolder, run, runJson, start, temporaryFolder } from '../support/program.ts'

const folder = temporaryFolder()
after(() => removeFolder(folder))
const dayMs = 86_400_000

async function send(url: string, key: string, path: string, body: unknown): Promise<void> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  assert.ok(answer.ok, await answer.text())
}

it('are text, JSON and a page to print; a kill loses none of what was added, and --result-days says how far back it goes (PROTOCOL §14.8)', async () => {
  const serve = ['serve', '--data', folder]
  const first = await start([...serve, '--result-days', '40d'])
  const { keys } = await makeTenant({ data: folder }, 'Gwynedd Homes', {
    read: ['read'],
    publish: ['publish'],
  })
  const [agentRef, publishKey, readKey] = [randomUUID(), keys.publish.key, keys.read.key]
  const price = {
    price: 1_250,
    rent_frequency: 12,
    price_qualifier_string: '<b>£1,250</b> y mis – tŷ & gardd 🏡',
  }
  const payload = property({ agent_ref: agentRef, price_information: price })
  await send(first.line.url, publishKey, '/v1/property-events', { payload, category: 'lettings' })
  const { body } = await listEvents(first.line.url, readKey)
  const url = 'https://example.com/mill-lane'
  const result = { agentRef, sequenceNumber: body.items[0]?.['sequenceNumber'], outcome: 'live', url }
  await send(first.line.url, readKey, '/v1/property-consumers/default/results', [result])

  const command = ['properties', 'terms', agentRef, '--key', publishKey]
  const terms = await runJson<PropertyTerms>([...command, '--url', first.line.url])
  const daysOf = (one: PropertyTerms) => Math.round((Date.now() - Date.parse(one.recordedFrom)) / dayMs)
  assert.equal(daysOf(terms), 40)
  const reader = terms.consumers.find(({ sent }) => sent === 'first')
  assert.equal(reader?.live[0]?.url, url)
  first.child.kill('SIGKILL')
  await first.stop()

  const second = await start(serve)
  await listEvents(second.line.url, readKey)
  const again = await runJson<PropertyTerms>([...command, '--url', second.line.url])
  assert.equal(daysOf(again), 730)
  assert.deepEqual(again.consumers, terms.consumers)

  const at = [...command, '--url', second.line.url, '--at']
  const text = await run([...at, again.event?.createdDate ?? ''])
  assert.match(
    text.stdout,
    /^At .* UTC the property was advertised: event 1 \(PropertyPublished\) was in force from /,
  )
  assert.match(text.stdout, /\n {2}rent frequency +Monthly \(12\)\n/)
  assert.match(text.stdout, /\n {2}price +£1,250\n/)
  assert.match(text.stdout, /\nConsumers\n.*First sent in the minute of /s)
  const page = await run([...command, '--url', second.line.url, '--html'])
  assert.match(page.stdout, /^<!doctype html>\n<html lang="en-GB">/)
  assert.match(page.stdout, /@page \{ size: A4;/)
  assert.ok(page.stdout.includes('&lt;b&gt;£1,250&lt;/b&gt; y mis – tŷ &amp; gardd 🏡'))
  const early = await run([...at, '2020-01-31'])
  assert.match(
    early.stdout,
    /^At 2020-01-31 23:59:59 UTC the feed had no event of the property: what was advertised then is not recorded\./,
  )
  const odd = await run([...at, 'ddoe'])
  assert.match(odd.stderr, /--at is "ddoe", but must be a time ago such as 12h/)
  const unknown = await run([
    'properties',
    'terms',
    randomUUID(),
    '--key',
    publishKey,
    '--url',
    second.line.url,
  ])
  assert.match(unknown.stderr, /The feed has no event of the property/)
  assert.equal((await second.stop()).code, 0)
})
