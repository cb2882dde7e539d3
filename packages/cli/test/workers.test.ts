/** `serve --workers 3`: one service to whoever speaks to it, on three threads. Every request here has its own connection. */
import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { uuidV7 } from '@property-events/protocol'
import { until } from '../../server/test/support/until.ts'
import { makeTenant } from './support/make-tenant.ts'
import { removeFolder, run, start, temporaryFolder } from './support/program.ts'
import type { Running } from './support/program.ts'

const listPath = '/api/func/api/v1/events/getevents'
const root = temporaryFolder()
after(() => removeFolder(root))

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** On a connection of its own, so that the system gives it to any of the threads. */
function ask(url: string, key: string, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false })
    const method = body === undefined ? 'GET' : 'POST'
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const asking = request(url, { agent, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    asking.on('error', reject)
    asking.end(body)
  })
}

interface Keys {
  readonly publishKey: string
  readonly readKey: string
}

interface Store extends Keys {
  readonly data: readonly string[]
}

/** A folder with a tenant and its keys. */
async function makeStore(name: string): Promise<Store> {
  const data = ['--data', join(root, name)]
  await (await start(['serve', ...data])).stop()
  const wanted = { publisher: ['publish'], reader: ['read'] }
  const { keys } = await makeTenant({ data: join(root, name) }, 'Hill & Co', wanted)
  return { data, publishKey: keys.publisher.key, readKey: keys.reader.key }
}

function startWorkers({ data }: Store, ...more: readonly string[]): Promise<Running> {
  return start(['serve', ...data, '--workers', '3', ...more])
}

async function publish(url: string, { publishKey }: Keys, id = uuidV7(Date.now())): Promise<number> {
  const body = JSON.stringify({ id, payload: { agent_ref: id, published: true } })
  const { status, text } = await ask(`${url}/v1/property-events`, publishKey, body)
  assert.equal(status, 201, text)
  const receipt = JSON.parse(text) as { events: readonly { sequenceNumber: number }[] }
  return receipt.events[0]?.sequenceNumber ?? 0
}

interface Item {
  readonly id: string
  readonly sequenceNumber: number
}

async function list(url: string, { readKey }: Keys, query: string) {
  const { status, headers, text } = await ask(`${url}${listPath}?${query}`, readKey)
  assert.equal(status, 200, text)
  const page = JSON.parse(text) as { items: readonly Item[]; availableCount: number }
  return { ...page, head: Number(headers['x-feed-head']) }
}

describe('serve --workers 3', () => {
  let store: Store
  let running: Running
  before(async () => {
    store = await makeStore('shared')
    running = await startWorkers(store, '--rate-limit', 'off')
  })

  it('shows an event to the next read on any connection once it is acknowledged (P8)', async () => {
    const { url } = running.line
    for (let n = 0; n < 200; n += 1) {
      // What each thread knows of the feed a moment before is what could be told by mistake.
      const reads = [1, 2, 3].map(() => list(url, store, 'pageSize=1'))
      await Promise.all(reads)
      const number = await publish(url, store)
      for (const page of await Promise.all([1, 2].map(() => list(url, store, `pageSize=1&page=${number}`)))) {
        assert.equal(page.head, number)
        assert.equal(page.availableCount, number)
        assert.equal(page.items[0]?.sequenceNumber, number)
      }
    }
  })

  it('lets nobody who polls by the time of the request miss an event, whoever publishes meanwhile (P3)', async () => {
    const { url } = running.line
    const published: string[] = []
    const stop = new AbortController()
    const publisher = async (): Promise<void> => {
      for (let n = 0; n < 40; n += 1) {
        const id = uuidV7(Date.now())
        await publish(url, store, id)
        published.push(id)
      }
    }
    const poller = async (): Promise<ReadonlySet<string>> => {
      const seen = new Set<string>()
      let from = new Date().toISOString()
      const poll = async (): Promise<void> => {
        const asked = new Date().toISOString()
        for (const { id } of (await list(url, store, `pageSize=1000&from=${from}`)).items) seen.add(id)
        from = asked
      }
      while (!stop.signal.aborted) await poll()
      await poll()
      return seen
    }
    const pollers = [poller(), poller(), poller()]
    await Promise.all([publisher(), publisher(), publisher()])
    stop.abort()
    for (const seen of await Promise.all(pollers)) {
      assert.deepEqual(
        published.filter((id) => !seen.has(id)),
        [],
      )
    }
  })

  it('counts the requests of all threads in one set of metrics', async () => {
    const { url, metricsUrl } = running.line
    const counted = async (): Promise<number> => {
      const text = await (await fetch(metricsUrl)).text()
      assert.equal(text.match(/^process_cpu_seconds_total /gm)?.length, 1)
      assert.equal(text.match(/^process_start_time_seconds /gm)?.length, 1)
      const label = `route="${listPath}",method="GET",status="200"`
      const line = text.split('\n').find((one) => one.includes(`_seconds_count{${label}}`))
      return Number(line?.split(' ')[1])
    }
    const before = await counted()
    await Promise.all(Array.from({ length: 60 }, () => list(url, store, 'pageSize=1')))
    // A request is counted when its connection has been told, which may be after its reader has gone on.
    await until(async () => (await counted()) >= before + 60, { what: 'a count of all requests' })
    assert.equal(await counted(), before + 60)
    assert.equal((await fetch(new URL('/readyz', metricsUrl))).status, 200)
  })

  it('is one service: its folder and its port are refused to a second', async () => {
    const { port } = new URL(running.line.url)
    const again = await run(['serve', ...store.data, '--workers', '2', '--port', '0'])
    assert.equal(again.code, 1)
    assert.match(again.stderr, /Another process is serving the data folder/)
    for (const workers of ['1', '2']) {
      const other = ['--data', join(root, `other-${workers}`), '--workers', workers]
      const taken = await run(['serve', ...other, '--port', port, '--metrics-port', '0'])
      assert.equal(taken.code, 1)
      assert.match(taken.stderr, new RegExp(`^Port ${port} is taken\\. .*--port`))
    }
  })

  it('stops in the middle of publishing without losing what it acknowledged, and also when it is killed (P7)', async () => {
    const { url } = running.line
    const acknowledged: string[] = []
    const load = (from: string, until: number) => {
      const warm = Promise.withResolvers<void>()
      const publisher = async (): Promise<void> => {
        for (;;) {
          const id = uuidV7(Date.now())
          await publish(from, store, id)
          acknowledged.push(id)
          if (acknowledged.length >= until) warm.resolve()
        }
      }
      void Promise.allSettled(Array.from({ length: 8 }, publisher)).then(() => warm.resolve())
      return warm.promise
    }
    await load(url, 50)
    const stopped = await running.stop()
    assert.equal(stopped.code, 0, stopped.stderr)

    const second = await startWorkers(store)
    await load(second.line.url, acknowledged.length + 50)
    await second.stop('SIGKILL')
    assert.ok(acknowledged.length >= 100)

    running = await startWorkers(store, '--rate-limit', '1/30')
    const page = await list(running.line.url, store, 'pageSize=1000&page=1')
    const more = await list(running.line.url, store, 'pageSize=1000&page=2')
    const stored = new Set([...page.items, ...more.items].map(({ id }) => id))
    assert.deepEqual(
      acknowledged.filter((id) => !stored.has(id)),
      [],
    )
    const numbers = [...page.items, ...more.items].map(({ sequenceNumber }) => sequenceNumber)
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
    )
  })

  it('has one rate limit for all its threads (D10)', async () => {
    const { url } = running.line
    const started = performance.now()
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => ask(`${url}${listPath}?pageSize=1`, store.readKey)),
    )
    const allowed = answers.filter(({ status }) => status === 200).length
    const returned = Math.ceil((performance.now() - started) / 1_000) + 5
    assert.ok(allowed >= 20 && allowed <= 30 + returned, `${allowed} of 60`)
    assert.ok(answers.every(({ status }) => status === 200 || status === 429))
    const stopped = await running.stop()
    assert.equal(stopped.code, 0, stopped.stderr)
  })
})

describe('a serving thread that fails', () => {
  const mischief = fileURLToPath(new URL('./support/mischief.ts', import.meta.url))

  /** A service whose threads do as the file says, and what was acknowledged before one of them did. */
  async function startWithMischief(name: string) {
    const store = await makeStore(name)
    const file = join(root, `${name} does`)
    const running = await start(['serve', ...store.data, '--workers', '2'], {
      nodeArguments: ['--import', mischief],
      environment: { MISCHIEF_FILE: file },
    })
    const numbers: number[] = []
    for (let n = 0; n < 10; n += 1) numbers.push(await publish(running.line.url, store))
    // Whole at once: a thread that takes the file while it is being written would find it empty.
    const cause = (what: 'die' | 'hang'): void => {
      writeFileSync(`${file} soon`, what)
      renameSync(`${file} soon`, file)
    }
    return { store, running, numbers, cause }
  }

  async function stored(store: Store): Promise<readonly number[]> {
    const again = await start(['serve', ...store.data])
    const { items } = await list(again.line.url, store, 'pageSize=100')
    await again.stop()
    return items.map(({ sequenceNumber }) => sequenceNumber)
  }

  it('ends the program with a sentence when it dies, and loses nothing that was acknowledged (P7)', async () => {
    const { store, running, numbers, cause } = await startWithMischief('dies')
    const { promise: ended, resolve } = Promise.withResolvers<number | null>()
    running.child.once('exit', resolve)
    cause('die')
    assert.equal(await ended, 1)
    const { stderr } = await running.stop()
    assert.match(stderr, /A serving thread has died: a fault in a serving thread/)
    assert.match(stderr, /Acknowledged events are stored\./)
    assert.deepEqual(await stored(store), numbers)
  })

  it('shows on /livez when it hangs, loses no counts, and the program still stops on request', async () => {
    const { store, running, numbers, cause } = await startWithMischief('hangs')
    const livez = new URL('/livez', running.line.metricsUrl)
    const published = async () => {
      const metrics = await (await fetch(running.line.metricsUrl)).text()
      return Number(/publish_requests_total\{feed="property",outcome="receipt"\} (\d+)/.exec(metrics)?.[1])
    }
    assert.equal(await published(), numbers.length)
    assert.equal((await fetch(livez)).status, 200)
    cause('hang')
    let answer = await fetch(livez)
    for (let tries = 0; tries < 50 && answer.status === 200; tries += 1) answer = await fetch(livez)
    assert.equal(answer.status, 503)
    assert.match(await answer.text(), /a serving thread does not answer/)
    assert.equal(await published(), numbers.length)
    assert.equal((await running.stop()).code, 0)
    assert.deepEqual(await stored(store), numbers)
  })
})

describe('--workers', () => {
  it('is a whole number with a limit, by flag and by variable', async () => {
    for (const workers of ['0', '65', 'two']) {
      const { code, stderr } = await run(['serve', '--workers', workers, '--data', join(root, 'none')])
      assert.equal(code, 1)
      assert.match(stderr, /--workers is ".*", but must be a whole number from 1 to 64\./)
    }
  })

  it('serves the demo as well', async () => {
    const demo = await start(['demo', '--no-live', '--data', join(root, 'demo'), '--workers', '2'])
    const readKey = demo.line.tenants?.[0]?.readKey ?? ''
    const page = await list(demo.line.url, { readKey, publishKey: '' }, 'pageSize=1')
    assert.ok(page.availableCount >= 1_000)
    assert.equal((await demo.stop()).code, 0)
  })
})
