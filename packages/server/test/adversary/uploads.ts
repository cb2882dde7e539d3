/** Publishers whose bodies are large, slow, swollen or endless. */
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { pick } from '../../../client/test/support/random.ts'
import { hostileBodies } from '../support/hostile-bodies.ts'
import { askOnce, connectTo, oneOf, pause, repeat, requestOf, statusFrom } from './connection.ts'
import { counting } from './tally.ts'
import type { Adversary } from './target.ts'

const mebibyte = 2 ** 20
const json = 'Content-Type: application/json'
const close = 'Connection: close'

function post(key: string, ...lines: readonly string[]): Buffer {
  return Buffer.from(requestOf('POST /v1/property-events?dryRun=true', key, close, ...lines))
}

function whole(key: string, body: Buffer, ...lines: readonly string[]): Buffer {
  return Buffer.concat([post(key, `Content-Length: ${body.length}`, ...lines), body])
}

/** A thousand events, 16 MB together. In memory, text takes two bytes a character as soon as one of them is not Latin. */
export function largeBody(last = 'x'): Buffer {
  const note = 'x'.repeat(15_900) + last
  const events = Array.from({ length: 1_000 }, () => ({
    payload: { agent_ref: randomUUID(), published: true, note },
  }))
  return Buffer.from(JSON.stringify(events))
}

/** In the long form forty bodies of 16 MB at once, all of them sound. */
export const largeUploads: Adversary = async (target, random, signal) => {
  const tally = counting()
  const bodies = [largeBody(), largeBody('’')]
  await repeat(1 + 13 * target.strength, signal, tally, async () => {
    const body = oneOf(random, bodies)
    tally.add(await askOnce(target, signal, whole(oneOf(random, target.publishKeys), body, json)))
  })
  return tally.counts
}

/** The same, and they are stored: few, as disks are slow and small. */
export const largePublications: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(2 + 2 * target.strength, signal, tally, async (index) => {
    const body = largeBody(index % 2 === 0 ? 'x' : '’')
    const key = oneOf(random, target.publishKeys)
    const lines = [json, `Content-Length: ${body.length}`]
    const start = requestOf('POST /v1/property-events', key, close, ...lines)
    tally.add(await askOnce(target, signal, Buffer.concat([Buffer.from(start), body])))
    await pause(500, signal)
  })
  return tally.counts
}

/** 16 MB are announced, and a few bytes a second come. */
export const slowUploads: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(40 * target.strength, signal, tally, async () => {
    const socket = await connectTo(target, signal)
    const answered = statusFrom(socket, signal)
    socket.write(post(oneOf(random, target.publishKeys), json, `Content-Length: ${16 * mebibyte}`))
    const sending = setInterval(() => socket.write(' '.repeat(1 + pick(random, 1_000))), 1_000)
    tally.add(await answered)
    clearInterval(sending)
    socket.destroy()
  })
  return tally.counts
}

/** Few bytes that become the most that is allowed, and ones that become more. */
export const gzipBombs: Adversary = async (target, random, signal) => {
  const tally = counting()
  const bombs = [15.9, 15.9, 15.9, 100].map((size) => {
    const inflated = Buffer.alloc(size * mebibyte, ' ')
    inflated.write('[', 0)
    inflated.write(']', inflated.length - 1)
    return gzipSync(inflated)
  })
  await repeat(20 * target.strength, signal, tally, async () => {
    const key = oneOf(random, target.publishKeys)
    tally.add(await askOnce(target, signal, whole(key, oneOf(random, bombs), json, 'Content-Encoding: gzip')))
  })
  return tally.counts
}

/** 16 MB of braces, brackets, lines and blanks. */
export const costlyBodies: Adversary = async (target, random, signal) => {
  const tally = counting()
  await repeat(5 * target.strength, signal, tally, async () => {
    const { make, format } = oneOf(random, hostileBodies)
    const type = format === 'json' ? json : 'Content-Type: application/x-ndjson'
    tally.add(await askOnce(target, signal, whole(oneOf(random, target.publishKeys), make(), type)))
  })
  return tally.counts
}

/** Chunks without an end, large ones and ones of a byte. */
export const endlessChunks: Adversary = async (target, random, signal) => {
  const tally = counting()
  const large = Buffer.from(`10000\r\n${' '.repeat(65_536)}\r\n`)
  const small = Buffer.from('1\r\n \r\n'.repeat(1_000))
  await repeat(10 * target.strength, signal, tally, async (index) => {
    const socket = await connectTo(target, signal)
    const answered = statusFrom(socket, signal)
    const state = { over: false }
    socket.write(post(oneOf(random, target.publishKeys), json, 'Transfer-Encoding: chunked'))
    const sending = sendUntil(socket, index % 2 === 0 ? large : small, () => state.over || signal.aborted)
    tally.add(await answered)
    state.over = true
    socket.destroy()
    await sending
  })
  return tally.counts
}

/** As fast as the other side takes it. */
async function sendUntil(socket: Socket, bytes: Buffer, isOver: () => boolean): Promise<void> {
  while (!isOver() && socket.writable) {
    await new Promise<void>((resolve) => socket.write(bytes, () => resolve()))
  }
}
