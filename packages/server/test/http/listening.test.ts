/** How new connections are taken. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { listening } from '../../src/http/transport/listening.ts'
import { until } from '../support/until.ts'

const count = 64

describe(
  'new connections',
  { skip: process.platform === 'linux' ? false : 'only Linux spreads them' },
  () => {
    it('are taken several in each turn of the event loop, so that a latecomer does not wait for all the others (P10)', async () => {
      const server = createServer()
      const taken: number[] = []
      let turn = 0
      const sockets: Socket[] = []
      server.on('connection', (socket: Socket) => {
        taken.push(turn)
        sockets.push(socket)
      })
      const service = listening(server)
      const at = { host: '127.0.0.1' }
      const { port } = await service.listen({ ...at, port: 0 })
      try {
        const countTurns = (): void => {
          turn += 1
          if (taken.length < count) setImmediate(countTurns)
        }
        for (let index = 0; index < count; index += 1) sockets.push(connect(port, at.host))
        setImmediate(countTurns)
        await until(() => taken.length === count, { what: 'all of them' })
        const turns = 1 + (taken.at(-1) ?? 0) - (taken[0] ?? 0)
        assert.ok(turns <= count / 2, `${count} were taken in ${turns} turns`)
        const second = listening(createServer())
        await assert.rejects(second.listen({ ...at, port }), { code: 'EADDRINUSE' }, 'nobody shares its port')
      } finally {
        for (const socket of sockets) socket.destroy()
        await service.close()
      }
    })

    it('are not taken at all if some of the sockets cannot listen: the program ends with an error (D9)', async () => {
      const program = join(import.meta.dirname, '../support/listen-short.ts')
      const { stdout } = await promisify(execFile)(
        'sh',
        ['-c', 'ulimit -n 64 && exec "$0" "$1"', process.execPath, program],
        // A socket that goes on listening keeps the program alive.
        { timeout: 20_000 },
      )
      assert.deepEqual(JSON.parse(stdout), { failed: true, listens: false })
    })
  },
)
