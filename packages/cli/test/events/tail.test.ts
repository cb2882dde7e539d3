/** `events tail` as a person reads it: where, for how much, and what changed. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { createClient } from '@property-events/client'
import type { Publication } from '@property-events/client'
import { until } from '../../../server/test/support/until.ts'
import { earlierListings, eventLines } from '../../src/events/event-line.ts'
import { styleOf } from '../../src/terminal-style.ts'
import { finished, run, spawnProgram, startMarket } from '../support/program.ts'
import type { Market } from '../support/program.ts'

const home = '7d1c3a54-5c1e-4c4f-8e0b-6a1f0e9b2c33'
const flat = '7d1c3a54-5c1e-4c4f-8e0b-6a1f0e9b2c44'

const photographs = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    media_type: 1,
    media_url: `https://images.example.com/${index}.jpg`,
  }))

const sale = (price: number, more: object = {}): Publication => ({
  payload: {
    agent_ref: home,
    published: true,
    status: 1,
    address: { display_address: '12 Mill Lane, Wrenfold' },
    price_information: { price, price_qualifier: 3 },
    media: photographs(2),
    ...more,
  },
})
const letting: Publication = {
  payload: {
    agent_ref: flat,
    published: true,
    address: { display_address: 'Flat 2, The Old Malthouse, Station Approach, Wrenfold' },
    price_information: { price: 950, rent_frequency: 12 },
  },
}

describe('events tail', () => {
  let market: Market
  let environment: Readonly<Record<string, string>>
  before(async () => {
    market = await startMarket()
    environment = { PROPERTY_EVENTS_URL: market.url, PROPERTY_EVENTS_KEY: market.readKey }
    const client = createClient({ baseUrl: market.url, key: market.publishKey })
    for (const publication of [
      sale(450_000),
      letting,
      sale(425_000, { media: photographs(3) }),
      sale(425_000, { media: photographs(3), status: 2 }),
      sale(425_000, { media: photographs(3), status: 2, details: { bathrooms: 2 } }),
      { remove: { agentRef: home, reason: 'Withdrawn \u001b[31mnow' } },
    ] satisfies readonly Publication[]) {
      await client.publish([publication])
    }
  })
  after(() => market.close())

  async function tail(last: number, more: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
    const args = ['events', 'tail', '--no-follow', '--last', String(last)]
    const { code, stdout, stderr } = await run(args, { environment: { ...environment, ...more } })
    assert.equal(code, 0, stderr)
    return stdout.trimEnd().split('\n')
  }
  /** Without the time. */
  const columns = (line: string) =>
    line
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}/, '')
      .trim()
      .split(/ {2,}/)

  it('shows address and price of each event, and what changed since the one before (P1)', async () => {
    const lines = (await tail(6)).map(columns)
    assert.deepEqual(
      lines[0],
      ['1', 'PropertyPublished', '12 Mill Lane, Wrenfold', 'Guide price £450,000', 'new'].map(
        (cell, index) => (index === 3 ? (lines[0]?.[3] ?? cell) : cell),
      ),
    )
    assert.match(lines[0]?.[3] ?? '', /£450,000$/)
    assert.match(lines[1]?.[2] ?? '', /^Flat 2, The Old Malthouse, Statio.*…$/)
    assert.deepEqual(lines[1]?.slice(3), ['£950 pcm', 'new'])
    assert.equal(lines[2]?.[4], 'price 450,000 → 425,000, 2 → 3 photographs')
    assert.match(lines[3]?.[4] ?? '', / → /)
    assert.equal(lines[4]?.[4], 'details')
    assert.deepEqual(lines[5]?.slice(1, 3), ['PropertyUnpublished', '12 Mill Lane, Wrenfold'])
    // What an agency writes cannot colour the terminal: control characters are not shown.
    assert.match(lines[5]?.[4] ?? '', /^Withdrawn \[31mnow/)
  })

  it('asks the service for the state before, if it has not seen the event before (P1)', async () => {
    const whole = await tail(6)
    for (const last of [1, 2, 3, 4]) assert.deepEqual(await tail(last), whole.slice(-last))
  })

  it('is coloured on request, complete for machines, and shows nothing personal of contacts (D18)', async () => {
    const plain = await tail(6)
    const coloured = await tail(6, { FORCE_COLOR: '1' })
    assert.notDeepEqual(coloured, plain)
    assert.deepEqual(
      coloured.map((line) => stripVTControlCharacters(line)),
      plain,
    )
    const { stdout } = await run(['events', 'tail', '--no-follow', '--json', '--last', '6'], { environment })
    const events = stdout
      .trimEnd()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as { sequenceNumber: number; payload: string; shown: object; changes: unknown },
      )
    assert.deepEqual(
      events.map(({ sequenceNumber }) => sequenceNumber),
      [1, 2, 3, 4, 5, 6],
    )
    assert.deepEqual(events[2]?.shown, {
      address: '12 Mill Lane, Wrenfold',
      price: 'Fixed Price £425,000',
      changes: ['price 450,000 → 425,000', '2 → 3 photographs'],
    })
    assert.deepEqual(events[2]?.changes, [
      { pointer: '/price_information/price', from: 450_000, to: 425_000 },
      { pointer: '/media/2', to: photographs(3)[2] },
    ])
    assert.equal(events[1]?.changes, null, 'the first version of the flat')
    assert.equal((JSON.parse(events[2]?.payload ?? '') as { agent_ref: string }).agent_ref, home)
    const client = createClient({ baseUrl: market.url, key: market.publishKey, feed: 'contact' })
    await client.publish([
      { payload: { contact_ref: home, forename: 'Jane', surname: 'Wren', email: 'jane@example.com' } },
    ])
    const contacts = await run(['events', 'tail', '--no-follow', '--feed', 'contact'], { environment })
    assert.match(contacts.stdout, /ContactCreated/)
    assert.doesNotMatch(contacts.stdout, /Jane|Wren|example/)
  })

  it('stays, and shows each event when it is published; ends with its signal (PROTOCOL §13)', async () => {
    for (const more of [[], ['--json']]) {
      const child = spawnProgram(['events', 'tail', '--last', '1', ...more], { environment })
      const ended = finished(child)
      let output = ''
      child.stdout?.on('data', (text) => (output += String(text)))
      await until(() => output.includes('\n'), { what: 'the last event there was' })
      const client = createClient({ baseUrl: market.url, key: market.publishKey })
      await client.publish([sale(500_000)])
      await client.publish([sale(495_000)])
      await until(() => output.split('\n').length > 3, { what: `two more lines: ${output}` })
      assert.match(output, /price 500,000 → 495,000/)
      assert.doesNotMatch(output, /checkpoint/)
      child.kill('SIGINT')
      const { code, stderr } = await ended
      assert.equal(code, 0, stderr)
      assert.equal(stderr, '')
    }
  })

  it('is readable on a terminal of 80 columns: changes are listed below, and no line is longer', async () => {
    const client = createClient({ baseUrl: market.url, key: market.readKey })
    const { items } = await client.after({ after: 0 })
    const kept = earlierListings(client)
    const plain = styleOf(false)
    const linesAt = async (columns: number): Promise<readonly string[]> => {
      const lines: string[] = []
      for (const event of items) {
        lines.push(eventLines(event, await kept.before(event, { readsHistory: true }), plain, columns))
        kept.note(event)
      }
      return lines
    }
    for (const columns of [40, 80, 100]) {
      for (const text of await linesAt(columns)) {
        for (const line of text.split('\n'))
          assert.ok(line.length <= Math.max(columns, 64), `${line.length}: ${line}`)
      }
    }
    const narrow = await linesAt(80)
    const price = narrow.find((text) => text.includes('450,000 →'))
    assert.match(
      price ?? '',
      / updated {4}12 Mill Lane, Wrenfold .* Fixed Price £425,000\n {30}price 450,000 → 425,000, 2 → 3 photographs$/,
    )
    assert.ok((await linesAt(200)).every((text) => !text.includes('\n')))
  })
})
