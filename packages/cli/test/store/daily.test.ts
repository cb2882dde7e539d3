import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dailyTimeOf, nextDaily, runDaily } from '../../src/store/compact.ts'

const at = (text: string) => Date.parse(`2026-03-${text}Z`)
const night = dailyTimeOf('02:30') ?? Number.NaN

describe('a daily task', () => {
  it('has a time of day, and nothing that looks like one', () => {
    assert.equal(dailyTimeOf('00:00'), 0)
    assert.equal(dailyTimeOf('23:59'), 86_340_000)
    for (const text of ['', '2:30', '24:00', '02:60', '02:30:00', '02.30', ' 02:30', '٠٢:٣٠']) {
      assert.equal(dailyTimeOf(text), undefined, text)
    }
  })

  it('is done next at that time, today or tomorrow', () => {
    assert.equal(nextDaily(night, at('28T02:29:59.999')), at('28T02:30:00'))
    assert.equal(nextDaily(night, at('28T02:30:00')), at('29T02:30:00'))
    assert.equal(nextDaily(night, at('31T23:00:00')), Date.parse('2026-04-01T02:30:00Z'))
  })

  it('runs once a day, also if the clock jumps or a run takes long, until a signal', async () => {
    let nowMs = at('28T01:00:00')
    const ran: string[] = []
    const stop = new AbortController()
    const clock = {
      nowMs: () => nowMs,
      sleep: async (ms: number) => {
        assert.ok(ms > 0 && ms <= 600_000)
        // The machine sleeps for two days, once.
        nowMs += ran.length === 1 && nowMs < at('29T00:00:00') ? 2 * 86_400_000 : ms
      },
    }
    const run = async (): Promise<void> => {
      ran.push(new Date(nowMs).toISOString().slice(8, 16))
      nowMs += ran.length === 2 ? 3 * 3_600_000 : 1_000
      if (ran.length === 4) stop.abort()
    }
    await runDaily(night, stop.signal, run, clock)
    assert.deepEqual(ran, ['28T02:30', '30T02:30', '31T02:30', '01T02:30'])
  })
})
