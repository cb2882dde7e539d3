/**
 * Connections that say nothing, from a process of their own: both ends of 10,000 connections are more files than a
 * process usually may open. `node idle-clients.ts PORT COUNT` prints `ready`, and holds them until it is stopped.
 */
import { open } from './raw-socket.ts'

const [port = 0, count = 0] = process.argv.slice(2).map(Number)
for (let index = 0; index < count; index += 1) {
  const socket = await open(port)
  socket.on('error', () => undefined)
}
process.stdout.write('ready\n')
