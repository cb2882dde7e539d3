/**
 * How long a publication keeps a server from everybody else: hostile bodies and an ordinary large one are published to a server with
 * a heap of 256 MB while another process asks for a page again and again. Prints, for each body, the longest that the event loop was
 * held (the server's own gauge), the slowest page, and how long the publication took.
 *
 *     node bench/hostile-bodies.ts [heap in MB]
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hostileBodies } from '../packages/server/test/support/hostile-bodies.ts'
import { firstLine } from './support/server.ts'

const here = fileURLToPath(import.meta.url)
const program = fileURLToPath(new URL('../packages/cli/bin/property-events.mjs', import.meta.url))
const listPath = '/api/func/api/v1/events/getevents?pageSize=1'

interface Serving {
  readonly url: string
  readonly metricsUrl: string
  readonly tenants: readonly { readonly readKey: string; readonly publishKey: string }[]
}

/** Asks for a page every two milliseconds until it is stopped, then reports the slowest answer. */
function poll(url: string, key: string): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let slowestMs = 0
  process.on('message', () => {
    process.send?.({ slowestMs })
    slowestMs = 0
  })
  const ask = (): void => {
    const startMs = performance.now()
    const again = (): void => {
      slowestMs = Math.max(slowestMs, performance.now() - startMs)
      setTimeout(ask, 2)
    }
    request(`${url}${listPath}`, { agent, headers: { 'x-api-key': key } }, (answer) => {
      answer.resume().on('end', again)
    })
      .on('error', again)
      .end()
  }
  ask()
}

async function slowestOf(poller: ChildProcess): Promise<number> {
  const told = new Promise<{ slowestMs: number }>((resolve) => {
    poller.once('message', (message) => resolve(message as { slowestMs: number }))
  })
  poller.send('tell')
  return (await told).slowestMs
}

/** Milliseconds since the last call. */
async function longestHold(metricsUrl: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text()
  return 1_000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1] ?? 0)
}

function ordinary(): Buffer {
  const note = 'A house by the river. '.repeat(700)
  const event = (index: number) => ({
    payload: {
      agent_ref: `20000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      published: true,
      note,
    },
  })
  return Buffer.from(JSON.stringify(Array.from({ length: 1_000 }, (_, index) => event(index))))
}

async function measure(heapMb: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-bodies-'))
  const start = () =>
    spawn(
      process.execPath,
      [
        `--max-old-space-size=${heapMb}`,
        program,
        'demo',
        '--no-live',
        '--data',
        folder,
        '--json',
        '--port',
        '0',
        '--log-level',
        'error',
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
  let server = start()
  let serving: Serving = JSON.parse(await firstLine(server))
  const bodies = [
    ...hostileBodies,
    { name: '1,000 ordinary events of 16 kB', format: 'json', make: ordinary } as const,
  ]
  console.log('held ms | slowest page ms | answered after ms | answer')
  for (const { name, format, make } of bodies) {
    if (server.exitCode !== null || server.signalCode !== null) {
      server = start()
      serving = JSON.parse(await firstLine(server))
    }
    const { url, metricsUrl, tenants } = serving
    const [tenant] = tenants
    const poller = spawn(process.execPath, [here, 'poll', url, tenant?.readKey ?? ''], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const body = make()
    await new Promise((resolve) => setTimeout(resolve, 500))
    await longestHold(metricsUrl)
    await slowestOf(poller)
    const startMs = performance.now()
    const answer = await fetch(`${url}/v1/property-events`, {
      method: 'POST',
      headers: {
        'x-api-key': tenant?.publishKey ?? '',
        'content-type': format === 'json' ? 'application/json' : 'application/x-ndjson',
      },
      body,
    }).then(
      async (response) => `${response.status} ${(await response.text()).slice(-0)}`,
      (error: unknown) => `no answer: ${String(error instanceof Error ? error.cause : error)}`,
    )
    const tookMs = performance.now() - startMs
    const slowestMs = await slowestOf(poller)
    const heldMs = await longestHold(metricsUrl).catch(() => Number.NaN)
    poller.kill()
    const first = /"errors":\[\{.*?\}/.exec(answer)?.[0].slice(10, 150) ?? answer.slice(0, 100)
    console.log(
      [heldMs.toFixed(0), slowestMs.toFixed(0), tookMs.toFixed(0), name, answer.slice(0, 3), first].join(
        ' | ',
      ),
    )
  }
  server.kill()
  await new Promise((resolve) => server.once('exit', resolve))
  rmSync(folder, { recursive: true, force: true })
}

const [first = '256', url = '', key = ''] = process.argv.slice(2)
if (first === 'poll') poll(url, key)
else await measure(first)
