/**
 * The yardstick of webhooks, as a program: signs by Standard Webhooks and posts with Node's `http` over kept connections, as many at once as
 * an endpoint has, and does nothing else. No order, no tries, no log. Goes on until it is stopped.
 * `node webhook-loop.ts <receiver> <endpoints> <requests at once of each> <file of events, one a line>`
 */
import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'

const [receiver = '', endpoints = '1', concurrency = '4', eventFile = ''] = process.argv.slice(2)
const events = readFileSync(eventFile, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => Buffer.from(line))
const end = Buffer.from('}}')
const atOnce = Number(endpoints) * Number(concurrency)
const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
let sent = 0

function post(url: URL, key: Buffer): Promise<void> {
  const event = events[sent % events.length] ?? end
  sent += 1
  const id = `msg_loop_${sent}`
  const nowMs = Date.now()
  const timestamp = new Date(nowMs).toISOString()
  const head = `{"type":"property.event","timestamp":"${timestamp}","data":{"feed":"property","epoch":"loop","event":`
  const body = Buffer.concat([Buffer.from(head), event, end])
  const seconds = Math.floor(nowMs / 1_000)
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64')
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'bare-loop',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  }
  return new Promise((resolve, reject) => {
    const posting = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('error', reject)
      response.on('end', resolve)
    })
    posting.on('error', reject)
    posting.end(body)
  })
}

async function postAll(url: URL, key: Buffer): Promise<never> {
  for (;;) await post(url, key)
}

process.stdout.write('posting\n')
await Promise.all(
  Array.from({ length: atOnce }, (_, nth) =>
    postAll(new URL(`${receiver}/endpoint/${nth % Number(endpoints)}`), randomBytes(32)),
  ),
)
