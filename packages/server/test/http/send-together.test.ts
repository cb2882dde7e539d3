import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { sendTogether } from '../../src/http/transport/send-together.ts'

describe('answers that are ready in one turn of the event loop', () => {
  it('leave at its end, in order, and no more than 15 wait before them (P12)', async () => {
    const sendSoon = sendTogether()
    const sent: number[] = []
    const ready = (number: number) => sendSoon({ send: () => void sent.push(number) })
    for (let number = 1; number <= 15; number += 1) ready(number)
    assert.deepEqual(sent, [])
    ready(16)
    assert.equal(sent.length, 16)
    ready(17)
    assert.equal(sent.length, 16)
    await turn()
    ready(18)
    await turn()
    assert.deepEqual(
      sent,
      Array.from({ length: 18 }, (_, index) => index + 1),
    )
  })
})
