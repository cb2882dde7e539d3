/**
 * Connections that say nothing, from a process of their own: both ends of 10,000 connections are more files than a
 * process usually may open. `node idle-clients.ts PORT COUNT` prints `ready`, holds them until it is stopped, and tells its parent how many
 * are open when that sends it anything.
 */
import { open } from './raw-socket.ts'

const [port = 0, count = 0] = process.argv.slice(2).map(Number)
let closed = 0
for (let index = 0; index < count; index += 1) {
  const socket = await open(port)
  socket.on('error', () => undefined)
  socket.on('close', () => (closed += 1))
  socket.resume()
}
process.on('message', () => process.send?.(count - closed))
process.stdout.write('ready\n')
