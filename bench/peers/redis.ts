/**
 * The best known algorithm: a feed as a Redis sorted set, a page and its total by one Lua call, over HTTP by webdis.
 * The answer is in Redis' own format, webdis' cheapest. Redis keeps nothing on disk here, and webdis looks no key up:
 * less than this service promises.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { serverCore, spawnPinned, stop } from '../support/pinned.ts'
import { getOk } from '../support/requests.ts'
import { firstLine, freePort, untilAnswers, usageOfTrees } from '../support/server.ts'
import type { RunningServer } from '../support/server.ts'
import { missingProgram } from './missing.ts'
import type { Missing } from './missing.ts'

export interface RunningRedis extends RunningServer {
  /** The path of a page, counted from 1. */
  target(page: number, pageSize: number): string
}

// Joining the items in Lua 5.1 costs 1.3 ms of 1.8 ms per page, because it copies byte by byte. So they leave as a list, with the total
// last.
const script = `local items = redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2])
items[#items + 1] = redis.call('ZCARD', KEYS[1])
return items`

/** With all `events` (their JSON, in order) in memory. `folder`: scratch. */
export async function startRedis(folder: string, events: Iterable<string>): Promise<RunningRedis | Missing> {
  const absent = missingProgram('redis-server', 'redis-server') ?? missingProgram('webdis', 'webdis')
  if (absent !== undefined) return absent
  mkdirSync(folder, { recursive: true })
  const [redisPort, port] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const redis = spawnPinned(serverCore, 'redis-server', [
    '--port',
    String(redisPort),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'no',
  ])
  await firstLine(redis)
  await untilListening(redisPort)
  await fill(redisPort, events)
  const configuration = join(folder, 'webdis.json')
  writeFileSync(
    configuration,
    JSON.stringify({
      redis_host: '127.0.0.1',
      redis_port: redisPort,
      http_host: '127.0.0.1',
      http_port: port,
      threads: 1,
      pool_size: 8,
      daemonize: false,
      verbosity: 0,
      logfile: join(folder, 'webdis.log'),
    }),
  )
  const webdis = spawnPinned(serverCore, 'webdis', [configuration])
  await untilAnswers(`${url}/PING`, webdis)
  const loaded = await getOk(`${url}/SCRIPT/LOAD/${encodeURIComponent(script)}.txt`)
  const sha = loaded.toString().trim()
  return {
    url,
    target: (page, size) => `/EVALSHA/${sha}/1/feed/${(page - 1) * size}/${page * size - 1}.raw`,
    ...usageOfTrees(() => [redis.pid ?? 0, webdis.pid ?? 0]),
    async [Symbol.asyncDispose]() {
      await stop(webdis)
      await stop(redis)
    },
  }
}

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const up = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.on('connect', () => socket.end())
    })
    if (up) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('redis-server does not listen')
}

/** `ZADD feed score member …`, a hundred members a command, as fast as the socket takes them. */
async function fill(port: number, events: Iterable<string>): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  let failure = ''
  let replies = 0
  let wanted = Infinity
  const answered = Promise.withResolvers<void>()
  const count = (more: number): void => {
    replies += more
    if (replies >= wanted) answered.resolve()
  }
  socket.on('error', answered.reject)
  socket.on('data', (chunk: Buffer) => {
    const text = chunk.toString('latin1')
    if (text.includes('-')) failure ||= text.slice(0, 200)
    count(text.split('\n').length - 1)
  })
  let commands = 0
  let parts: string[] = []
  let score = 0
  const send = async (): Promise<void> => {
    commands += 1
    const bulks = ['ZADD', 'feed', ...parts].map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`)
    if (!socket.write(`*${bulks.length}\r\n${bulks.join('')}`)) {
      await new Promise<void>((resolve) => socket.once('drain', resolve))
    }
    parts = []
  }
  for (const event of events) {
    score += 1
    parts.push(String(score), event)
    if (parts.length === 200) await send()
  }
  if (parts.length > 0) await send()
  wanted = commands
  count(0)
  await answered.promise
  socket.destroy()
  if (failure !== '') throw new Error(`redis-server answered ${failure}`)
}
