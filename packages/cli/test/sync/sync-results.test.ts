/** `sync --results` and `--consumer`, with a service: what the site says is there for the publisher (PROTOCOL §14.5). */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createClient } from '@property-events/client'
import type { PropertyConsumer } from '@property-events/client'
import { until } from '../../../server/test/support/until.ts'
import { finished, run, runJson, spawnProgram, startMarket } from '../support/program.ts'
import type { Market } from '../support/program.ts'

const refOf = (index: number) => `7d1c3a54-5c1e-4c4f-8e0b-${String(index).padStart(12, '0')}`

interface Summary {
  readonly changes: number
  readonly results: {
    readonly sent: number
    readonly refused: number
    readonly unknown: number
    readonly refusedLines: readonly {
      readonly line: number
      readonly code: string
      readonly pointer: string
    }[]
  }
}

describe('sync --results', () => {
  let market: Market
  let environment: Readonly<Record<string, string>>
  before(async () => {
    market = await startMarket()
    environment = { PROPERTY_EVENTS_URL: market.url, PROPERTY_EVENTS_KEY: market.readKey }
    const publisher = createClient({ baseUrl: market.url, key: market.publishKey })
    await publisher.publish(
      Array.from({ length: 5 }, (_, index) => ({
        payload: { agent_ref: refOf(index + 1), published: true },
      })),
    )
  })
  after(() => market.close())

  const resultOf = (index: number, more: object = {}) =>
    JSON.stringify({ agentRef: refOf(index), sequenceNumber: index, outcome: 'live', ...more })

  /** As the publisher sees it. */
  async function seenOf(index: number, name: string): Promise<PropertyConsumer | undefined> {
    const publisher = createClient({ baseUrl: market.url, key: market.publishKey })
    return (await publisher.delivery(refOf(index)))?.consumers.find((one) => one.name === name)
  }

  it('sends the lines of a file, names the refused ones, and ends with 1 because of them (PROTOCOL §14.5)', async () => {
    const file = join(market.folder, 'results.ndjson')
    const lines = [
      resultOf(1, { url: 'https://www.example.com/1' }),
      resultOf(2, { outcome: 'refused', code: 'bad_postcode' }),
      '{"agentRef": 3}',
      resultOf(4, { url: 'ftp://www.example.com/4' }),
      resultOf(99, { sequenceNumber: 3 }),
      resultOf(5, { sequenceNumber: 1_000 }),
      resultOf(3, { outcome: 'held', message: 'No photograph' }),
    ]
    writeFileSync(file, lines.join('\n'))
    const args = ['sync', join(market.folder, 'copy'), '--consumer', 'website', '--results', file]
    const { code, stdout, stderr } = await run(args, { environment })
    assert.equal(code, 1)
    assert.match(
      stdout,
      /^3 results accepted, 1 of properties that the feed does not have, 3 lines refused\n5 events read/,
    )
    assert.match(stderr, /^refused: line 3 at \/agentRef: .* \(wrong_type\)$/m)
    assert.match(stderr, /^refused: line 4 at \/url: .* \(not_allowed\)$/m)
    assert.match(stderr, /^refused: line 6 at \/sequenceNumber: The feed has no event 1000 yet\./m)
    assert.match(
      (await seenOf(1, 'website'))?.sentence ?? '',
      /^Live since .*: https:\/\/www\.example\.com\/1\.$/,
    )
    assert.equal((await seenOf(2, 'website'))?.state, 'refused')
    assert.equal((await seenOf(3, 'website'))?.state, 'held')
    // The copy has the fourth, and the website has not said anything of it.
    await until(async () => (await seenOf(4, 'website'))?.state === 'applied')
    const again = await run([...args, '--json'], { environment })
    const { results } = JSON.parse(again.stdout) as Summary
    assert.deepEqual([again.code, results.sent, results.unknown, results.refused], [1, 3, 1, 3])
    assert.deepEqual(
      results.refusedLines.map(({ line, pointer }) => [line, pointer]),
      [
        [3, '/agentRef'],
        [4, '/url'],
        [6, '/sequenceNumber'],
      ],
    )
  })

  it('sends what a program writes while it follows, and the rest when it is stopped (PROTOCOL §14.5)', async () => {
    const child = spawnProgram(
      [
        'sync',
        join(market.folder, 'following'),
        '--follow',
        '--consumer',
        'follower',
        '--results',
        '-',
        '--json',
      ],
      { environment },
    )
    const end = finished(child)
    child.stdin?.write(`${resultOf(1)}\n`)
    await until(async () => (await seenOf(1, 'follower'))?.state === 'live')
    child.stdin?.write(`${resultOf(2)}\nnothing\n`)
    await until(async () => (await seenOf(2, 'follower'))?.state === 'live')
    child.kill('SIGTERM')
    const { code, stdout } = await end
    const { results } = JSON.parse(stdout) as Summary
    assert.deepEqual([code, results.sent, results.refused], [1, 2, 1])
  })

  it('says with every read what the copy is for, by option or variable (PROTOCOL §14.4)', async () => {
    const variable = { ...environment, PROPERTY_EVENTS_CONSUMER: 'portal' }
    await runJson(['sync', join(market.folder, 'portal.ndjson')], { environment: variable })
    await until(async () => (await seenOf(1, 'portal'))?.state === 'applied')
    const bad = await run(['sync', join(market.folder, 'bad'), '--consumer', 'two words'], { environment })
    assert.equal(bad.code, 1)
    assert.match(bad.stderr, /--consumer is "two words", but must be 1 to 64 letters/)
  })

  it('is refused if the file or another option rules it out', async () => {
    const folder = join(market.folder, 'other')
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['--results', join(market.folder, 'none.ndjson')], /none\.ndjson/],
      [['--results', market.folder], /is not a file/],
      [['--results', '-', '--feed', 'contact'], /--results is about properties/],
    ]
    for (const [more, words] of cases) {
      const { code, stderr } = await run(['sync', folder, ...more], { environment })
      assert.deepEqual([code, words.test(stderr)], [1, true], stderr)
    }
    const many = ['sync', 'sqlite:many.db', '--results', '-', '--keys', 'keys.txt']
    assert.match((await run(many, { environment })).stderr, /--results are those of one tenant/)
  })
})
