import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { createProgress, durationText, withProgress } from '../../src/progress.ts'
import type { Output } from '../../src/output.ts'
import { styleOf } from '../../src/terminal-style.ts'

function outputTo(lines: string[], showsProgress = true): Output {
  return {
    json: false,
    showsProgress,
    logForm: 'json',
    style: styleOf(false),
    columns: undefined,
    write: async () => undefined,
    writeJson: async () => undefined,
    say: () => undefined,
    progress: (line) => void lines.push(line),
  }
}

describe('progress', () => {
  it('prints nothing for work that is done within a second', () => {
    const lines: string[] = []
    let nowMs = 0
    const progress = createProgress(outputTo(lines), 'events', () => nowMs)
    for (; nowMs < 1_000; nowMs += 100) progress.update(nowMs, nowMs / 1_000)
    progress.end()
    assert.deepEqual(lines, [''])
  })

  it('shows how much, how fast and which part, and from the second second on how long it will still take', () => {
    const lines: string[] = []
    let nowMs = 0
    const progress = createProgress(outputTo(lines), 'events', () => nowMs)
    for (; nowMs <= 4_000; nowMs += 1_000) progress.update(nowMs, nowMs / 16_000)
    assert.equal(lines[0], '1,000 events · 1,000/s · 6 %')
    assert.equal(lines.at(-1), '4,000 events · 1,000/s · 25 % · 12 s left')
  })

  it('counts the time left from the point where an interrupted task continues', () => {
    const lines: string[] = []
    let nowMs = 0
    const progress = createProgress(outputTo(lines), 'events', () => nowMs)
    for (; nowMs <= 10_000; nowMs += 2_000) progress.update(9_000 + nowMs / 100, 0.9 + nowMs / 1_000_000)
    // A hundredth in ten seconds, and nine hundredths to go.
    assert.equal(lines.at(-1), '9,100 events · 10/s · 91 % · 1 min 30 s left')
  })

  it('shows no time if the total is not known, or nothing moves', () => {
    const lines: string[] = []
    let nowMs = 0
    const progress = createProgress(outputTo(lines), 'MB', () => nowMs)
    for (; nowMs <= 6_000; nowMs += 3_000) progress.update(7, undefined)
    const still = createProgress(outputTo(lines), 'MB', () => nowMs)
    for (; nowMs <= 20_000; nowMs += 3_000) still.update(7, 0.5)
    assert.ok(lines.length > 3)
    for (const line of lines) assert.doesNotMatch(line, /left/)
  })

  it('writes times as people say them', () => {
    const texts = [0, 8_400, 60_000, 125_000, 3_600_000, 3_845_000].map(durationText)
    assert.deepEqual(texts, ['1 s', '8 s', '1 min', '2 min 5 s', '1 h', '1 h 4 min'])
  })

  it('watches a task that says nothing of itself, passes its result and its failure on, and is quiet in a pipe', async () => {
    const lines: string[] = []
    const measure = () => ({ done: 5, part: 0.5 })
    assert.equal(await withProgress(outputTo(lines), 'MB', measure, delay(1_300, 'done')), 'done')
    assert.deepEqual([lines[0], lines.at(-1)], ['5 MB · 0/s · 50 %', ''])
    const failure = Promise.reject(new Error('disk'))
    await assert.rejects(withProgress(outputTo(lines), 'MB', measure, failure), /disk/)
    const failing = () => {
      throw new Error('not there yet')
    }
    assert.equal(await withProgress(outputTo(lines), 'MB', failing, Promise.resolve(1)), 1)
    const piped: string[] = []
    assert.equal(await withProgress(outputTo(piped, false), 'MB', measure, Promise.resolve(2)), 2)
    assert.deepEqual(piped, [])
  })
})
