/**
 * Asks for one target once with every key, each with the tag it got before, over a few connections, and prints what was
 * seen, as the scripts for wrk do. An answer that is not 304 is an error. Arguments: address, target, connections, a file
 * of keys and one of tags, one a line.
 */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'

const [address = '', target = '', connections = '', keyFile = '', tagFile = ''] = process.argv.slice(2)
const { hostname, port } = new URL(address)
const keys = readFileSync(keyFile, 'utf8').trimEnd().split('\n')
const tags = readFileSync(tagFile, 'utf8').trimEnd().split('\n')
const timesMs: number[] = []
let errors = 0
let bytes = 0
let next = 0

async function askInTurn(): Promise<void> {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  while (next < keys.length) {
    const nth = next
    next += 1
    const started = performance.now()
    socket.write(
      `GET ${target} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nX-Api-Key: ${keys[nth]}\r\nIf-None-Match: ${tags[nth]}\r\n\r\n`,
    )
    const [answer]: Buffer[] = await once(socket, 'data')
    timesMs.push(performance.now() - started)
    bytes += answer?.length ?? 0
    // A 304 has no body and comes in one piece.
    const text = answer?.toString('latin1') ?? ''
    if (!text.startsWith('HTTP/1.1 304 ') || !text.endsWith('\r\n\r\n')) errors += 1
  }
  socket.destroy()
}

const started = performance.now()
await Promise.all(Array.from({ length: Number(connections) }, askInTurn))
const seconds = (performance.now() - started) / 1000
timesMs.sort((a, b) => a - b)
const at = (part: number): number => timesMs[Math.floor(timesMs.length * part)] ?? 0
const figures = { requests: timesMs.length, seconds, bytes, p50Ms: at(0.5), p99Ms: at(0.99), errors }
process.stdout.write(`${JSON.stringify(figures)}\n`)
