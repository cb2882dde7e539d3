/** The turns of the senders of a node. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { senderTurns } from '../../src/webhooks/sender-turns.ts'

async function nextTurn(): Promise<void> {
  await new Promise(setImmediate)
}

it('senders go on in the order in which they asked, a few in each turn of the event loop', async () => {
  const turn = senderTurns()
  const went: number[] = []
  const senders = Array.from({ length: 40 }, (_, index) => () => void went.push(index))
  for (const sender of senders) turn(sender)
  assert.equal(went.length, 0)
  await nextTurn()
  assert.equal(went.length, 16)
  for (let turns = 0; turns < 3; turns += 1) await nextTurn()
  assert.deepEqual(
    went,
    senders.map((_, index) => index),
  )
})

it('one that asks often goes on once, and again when it asks meanwhile', async () => {
  const turn = senderTurns()
  let went = 0
  const sender = (): void => {
    went += 1
    if (went === 1) for (let asked = 0; asked < 5; asked += 1) turn(sender)
  }
  turn(sender)
  turn(sender)
  for (let turns = 0; turns < 5; turns += 1) await nextTurn()
  assert.equal(went, 2)
})
