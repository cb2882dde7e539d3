/** Answers that are made while they are sent: a reader that goes ends them, whether or not it ever drains (PROTOCOL §13). */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sendPieces } from '../../src/http/transport/send-pieces.ts'
import type { StreamAnswer } from '../../src/http/exchange.ts'
import { within } from '../support/until.ts'

/** A connection that takes what is written when it is told to. */
class Connection extends EventEmitter {
  destroyed = false
  readonly taken: number[] = []
  #done: (() => void) | undefined

  readonly write = (piece: Uint8Array, done: () => void): void => {
    this.taken.push(piece.byteLength)
    this.#done = done
  }

  drain(): void {
    this.#done?.()
  }

  close(): void {
    this.destroyed = true
    this.emit('close')
  }
}

/** Without an end of its own; `ends` counts how often what makes the pieces was ended. */
function endless() {
  const made = { pieces: 0, ends: 0 }
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        made.pieces += 1
        yield Buffer.alloc(10)
      }
    } finally {
      made.ends += 1
    }
  }
  const answer: StreamAnswer = {
    kind: 'stream',
    headers: {},
    etag: undefined,
    feed: { sequenceNumber: 0, epoch: 'e', revision: 0 },
    coding: 'identity',
    byteLength: undefined,
    use: 'stream',
    pieces,
    release: () => undefined,
  }
  return { answer, made }
}

describe('an answer that is made while it is sent', () => {
  it('is made no further than one piece ahead of its reader (L3)', async () => {
    const connection = new Connection()
    const { answer, made } = endless()
    const sending = sendPieces(answer, connection, connection.write)
    for (let turn = 0; turn < 20; turn += 1) await setImmediate()
    assert.equal(made.pieces, 1)
    connection.drain()
    for (let turn = 0; turn < 20; turn += 1) await setImmediate()
    assert.equal(made.pieces, 2)
    connection.close()
    assert.equal(await within(sending), false)
  })

  it('ends when its reader goes without ever draining (L3)', async () => {
    const connection = new Connection()
    const { answer, made } = endless()
    const sending = sendPieces(answer, connection, connection.write)
    await setImmediate()
    connection.close()
    assert.equal(await within(sending), false)
    assert.deepEqual(made, { pieces: 1, ends: 1 })
    assert.equal(connection.listenerCount('close'), 0)
  })
})
