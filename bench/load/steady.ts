/**
 * Publishes single events at a steady pace, each when it is due whether or not those before it have been answered, and
 * prints what was seen, as the scripts for wrk do. A time counts from the moment an event was due: where a service stands
 * still, everybody who would have come meanwhile waits, and not only who came first. Arguments: address, path, keys with commas
 * between them, used in turn, events a second, seconds, and a file of bodies, one a line, in which `{due}` is that moment.
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { withMark } from '../webhooks/mark.ts'

const [address = '', path = '', keyList = '', perSecond = '', seconds = '', bodyFile = ''] =
  process.argv.slice(2)
const keys = keyList.split(',')
const bodies = readFileSync(bodyFile, 'utf8').trimEnd().split('\n')
const agent = new Agent({ keepAlive: true })
const timesMs: number[] = []
let errors = 0
let bytes = 0

function publish(key: string, body: string): Promise<void> {
  const headers = {
    'x-api-key': key,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  return new Promise((resolve) => {
    const failed = (): void => {
      errors += 1
      resolve()
    }
    const asking = request(`${address}${path}`, { method: 'POST', agent, headers }, (response) => {
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('error', failed)
      response.on('end', () => {
        if (response.statusCode !== 201) errors += 1
        resolve()
      })
    })
    asking.on('error', failed)
    asking.end(body)
  })
}

async function publishWhenDue(nth: number, dueMs: number): Promise<void> {
  const body = withMark(bodies[nth % bodies.length] ?? '', performance.timeOrigin + dueMs)
  await publish(keys[nth % keys.length] ?? '', body)
  timesMs.push(performance.now() - dueMs)
}

const [pauseMs, endMs] = [1_000 / Number(perSecond), Number(seconds) * 1_000]
const startedMs = performance.now()
const answers: Promise<void>[] = []
for (let nth = 0; nth * pauseMs < endMs; nth += 1) {
  const dueMs = startedMs + nth * pauseMs
  await delay(Math.max(0, dueMs - performance.now()))
  answers.push(publishWhenDue(nth, dueMs))
}
await Promise.all(answers)
agent.destroy()
timesMs.sort((a, b) => a - b)
const at = (part: number): number => timesMs[Math.floor(timesMs.length * part)] ?? 0
const figures = {
  requests: timesMs.length,
  seconds: (performance.now() - startedMs) / 1_000,
  bytes,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
  errors,
}
process.stdout.write(`${JSON.stringify(figures)}\n`)
