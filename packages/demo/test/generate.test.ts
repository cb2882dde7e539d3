import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { checkPropertyPayload } from '@property-events/protocol'
import { generate, type GenerateOptions } from '../src/demo-data/generate.ts'

interface Line {
  readonly payload?: { readonly agent_ref: string; readonly published: boolean }
  readonly remove?: { readonly agentRef: string }
}

function digest(options: GenerateOptions): string {
  const hash = createHash('sha256')
  for (const line of generate(options)) hash.update(line).update('\n')
  return hash.digest('hex')
}

function read(line: string): Line {
  const value: Line = JSON.parse(line)
  return value
}

describe('generate', () => {
  it('gives the same bytes for the same seed, and others for another', () => {
    const first = digest({ events: 3_000, seed: 'one' })
    assert.equal(digest({ events: 3_000, seed: 'one' }), first)
    assert.notEqual(digest({ events: 3_000, seed: 'two' }), first)
  })

  it('begins a longer stream with the shorter one', () => {
    const short = [...generate({ events: 500, seed: 'one' })]
    assert.deepEqual([...generate({ events: 900, seed: 'one' })].slice(0, 500), short)
  })

  it('gives exactly as many lines as asked for, none with a line end inside', () => {
    for (const events of [0, 1, 2, 1_999]) {
      const lines = [...generate({ events, seed: 'count' })]
      assert.equal(lines.length, events)
      assert.ok(lines.every((line) => !/[\r\n]/.test(line)))
    }
  })

  it('gives bodies that can be published, and removes only what is published (D26)', () => {
    const published = new Set<string>()
    let removals = 0
    for (const text of generate({ events: 20_000, seed: 'order' })) {
      const { payload, remove } = read(text)
      if (remove !== undefined) {
        assert.ok(published.delete(remove.agentRef))
        removals += 1
      } else if (payload !== undefined) {
        assert.deepEqual(checkPropertyPayload(payload, { publishedRequired: true }), [])
        if (payload.published) published.add(payload.agent_ref)
        else published.delete(payload.agent_ref)
      } else assert.fail(text.slice(0, 100))
    }
    assert.ok(removals > 1_000)
  })

  for (const averageBytes of [500, 1_000, 2_000, 3_000, 4_000, 8_000, 16_000]) {
    it(`gives lines of about ${averageBytes} bytes when asked for`, () => {
      const lines = [...generate({ events: 2_000, seed: 'size', averageBytes })].filter((line) =>
        line.startsWith('{"payload"'),
      )
      const mean = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0) / lines.length
      assert.ok(Math.abs(mean / averageBytes - 1) < 0.1, `mean ${mean}`)
    })
  }

  it('compresses like real listings: 100 events to between a quarter and an eighth', () => {
    const lines = [...generate({ events: 10_000, seed: 'gzip' })].slice(-100).join('\n')
    const ratio = lines.length / gzipSync(lines, { level: 6 }).length
    assert.ok(ratio > 4 && ratio < 8, `ratio ${ratio}`)
  })

  it('refuses counts and sizes it cannot give', () => {
    for (const events of [-1, 1.5, NaN])
      assert.throws(() => generate({ events, seed: '' }).next(), RangeError)
    for (const averageBytes of [0, 499, 16_001, NaN]) {
      assert.throws(() => generate({ events: 1, seed: '', averageBytes }).next(), RangeError)
    }
  })
})
