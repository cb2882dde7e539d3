/** How many connections stay open for a moment, so that a client that is still sending can read why it was refused. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { it } from 'node:test'
import { createLinger } from '../../src/http/transport/node-exchange.ts'

it('lets connections of a key linger up to a limit, leaves others room, and counts none that has ended (D9)', async () => {
  const linger = createLinger()
  const lingers = (keyId: string | undefined): Socket | undefined => {
    const socket = new Socket()
    linger(socket, keyId)
    return Object.hasOwn(socket, 'destroySoon') ? socket : undefined
  }
  const manyOf = (keyId: string | undefined) => Array.from({ length: 100 }, () => lingers(keyId))
  const first = manyOf('a').filter((socket) => socket !== undefined)
  assert.equal(first.length, 64)
  for (const keyId of ['b', 'c', undefined]) {
    assert.equal(manyOf(keyId).filter((socket) => socket !== undefined).length, 64)
  }
  assert.equal(lingers('d'), undefined, '256 in all')
  for (const socket of first.slice(0, 10)) {
    socket.destroy()
    await once(socket, 'close')
  }
  assert.equal(manyOf('a').filter((socket) => socket !== undefined).length, 10)
})
