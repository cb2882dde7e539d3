/**
 * Polls for fresh events: each of the clients asks for what came after its last answer, and again when it has the answer. Prints what was
 * seen, as the scripts for wrk do. Arguments: address, key, `time` (`getevents?from=`) or `number` (runs, `after=`), clients, seconds, and the
 * milliseconds that a client waits before it asks again.
 */
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

const [address = '', key = '', by = '', clients = '', seconds = '', pauseMs = ''] = process.argv.slice(2)
const timesMs: number[] = []
let errors = 0
let bytes = 0
let events = 0

interface Answer {
  readonly status: number
  readonly completeUntil: string | undefined
  readonly text: string
}

function ask(agent: Agent, path: string): Promise<Answer> {
  const headers = { 'x-api-key': key, 'accept-encoding': 'identity' }
  return new Promise((resolve, reject) => {
    const asking = request(`${address}${path}`, { agent, headers }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', reject)
      response.on('end', () => {
        const until = response.headers['x-feed-complete-until']
        const completeUntil = typeof until === 'string' ? until : undefined
        resolve({
          status: response.statusCode ?? 0,
          completeUntil,
          text: Buffer.concat(pieces).toString('latin1'),
        })
      })
    })
    asking.on('error', reject)
    asking.end()
  })
}

/** The path of the poll after an answer. `undefined`: the answer was not one. */
function nextPath({ status, completeUntil, text }: Answer): string | undefined {
  if (status !== 200) return undefined
  if (by === 'time') return completeUntil && `/api/func/api/v1/events/getevents?from=${completeUntil}`
  const next = /"next":(\d+),"head":\d+/.exec(text.slice(-200))?.[1]
  return next && `/v1/property-events?limit=100&after=${next}`
}

/** The number of the last event, or the present time: the first poll finds nothing either. */
async function firstPath(agent: Agent): Promise<string> {
  if (by === 'time') return `/api/func/api/v1/events/getevents?from=${new Date().toISOString()}`
  const { text } = await ask(agent, '/api/func/api/v1/events/getevents?pageSize=1')
  const count = Number(/"availableCount":(\d+)/.exec(text)?.[1])
  return `/v1/property-events?limit=100&after=${count}`
}

async function poll(endMs: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let path = await firstPath(agent)
  await delay(Math.random() * Number(pauseMs))
  while (performance.now() < endMs) {
    const askedMs = performance.now()
    const answer = await ask(agent, path)
    timesMs.push(performance.now() - askedMs)
    bytes += answer.text.length
    events += answer.text.split('"sequenceNumber":').length - 1
    const next = nextPath(answer)
    if (next === undefined) errors += 1
    path = next ?? path
    if (Number(pauseMs) > 0) await delay(Number(pauseMs))
  }
  agent.destroy()
}

const startedMs = performance.now()
const endMs = startedMs + Number(seconds) * 1_000
await Promise.all(Array.from({ length: Number(clients) }, () => poll(endMs)))
timesMs.sort((a, b) => a - b)
const at = (part: number): number => timesMs[Math.floor(timesMs.length * part)] ?? 0
const figures = {
  requests: timesMs.length,
  seconds: (performance.now() - startedMs) / 1_000,
  bytes,
  events,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
  errors,
}
process.stdout.write(`${JSON.stringify(figures)}\n`)
