/** New connections while the service has no time for them: they wait in the system's queue, and none is lost. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { it } from 'node:test'
import { until } from '../../../server/test/support/until.ts'
import { removeFolder, start, temporaryFolder } from '../support/program.ts'

const count = 1_000
const limitFile = '/proc/sys/net/core/somaxconn'
const allowed = existsSync(limitFile) ? Number(readFileSync(limitFile, 'utf8')) : 0
const skip = allowed > count ? false : 'the system lets fewer connections wait, or does not say how many'

it(`${count} connections wait while a service is busy, and each is served (P10)`, { skip }, async () => {
  const data = temporaryFolder()
  const running = await start(['serve', '--data', data])
  const { hostname, port } = new URL(running.line.url)
  running.child.kill('SIGSTOP')
  let made = 0
  let answered = 0
  const sockets: Socket[] = []
  for (let index = 0; index < count; index += 1) {
    const socket = connect(Number(port), hostname, () => (made += 1))
    socket.on('error', () => undefined).once('data', () => (answered += 1))
    socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n')
    sockets.push(socket)
  }
  const leave = () => {
    for (const socket of sockets) socket.destroy()
    return running.stop()
  }
  try {
    await until(() => made === count, {
      what: `${count} connections, of which the system keeps all`,
      timeoutMs: 15_000,
    })
  } finally {
    running.child.kill('SIGCONT')
    if (made < count) await leave()
  }
  await until(() => answered === count, { what: 'their answers' })
  const { code, stderr } = await leave()
  removeFolder(data)
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
})
