/** Following through a real nginx: as it is deployed here, and one that gathers answers whatever the service says. */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { freePorts } from '../../../server/test/support/free-ports.ts'
import { publish } from '../../../server/test/support/http-client.ts'
import { needsNginx, startNginx } from '../../../server/test/support/nginx.ts'
import { property } from '../../../server/test/support/property.ts'
import { startTestService } from '../../../server/test/support/test-service.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'
import { until } from '../../../server/test/support/until.ts'
import { clientOf, numbersOf, watched } from '../support/live.ts'

/** In place of the line that has nginx speak HTTP/1.1 to the service. */
const lines = {
  deployed: 'proxy_http_version 1.1;',
  /** Whatever the service says of it. In chunks, as HTTP/1.1 has them, a stream comes through all the same. */
  buffering: 'proxy_http_version 1.1; proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;',
  /** Without chunks nginx passes on full buffers. */
  gathering: 'proxy_http_version 1.0; proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;',
} as const

describe('through nginx', { skip: needsNginx, concurrency: true }, () => {
  const services: TestService[] = []
  const proxies: ChildProcess[] = []
  const folders: string[] = []

  after(async () => {
    for (const proxy of proxies)
      if (proxy.exitCode === null && proxy.kill('SIGTERM')) await once(proxy, 'exit')
    for (const service of services) await service.stop()
    for (const folder of folders) await rm(folder, { recursive: true, force: true })
  })

  async function urlThrough(line: string, service: TestService): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'property-events-nginx-'))
    folders.push(folder)
    const [port] = await freePorts(1)
    const replacements = [[/proxy_http_version 1\.1;/, line]] as const
    proxies.push(await startNginx(folder, port ?? 0, [service.port, service.port], replacements))
    return `http://127.0.0.1:${port}`
  }

  for (const [what, line, way] of [
    ['as it is deployed, events come on a stream', lines.deployed, 'stream'],
    ['that buffers, events come on a stream', lines.buffering, 'stream'],
    ['that gathers answers, events come by requests that wait', lines.gathering, 'wait'],
  ] as const) {
    it(`${what}, each once and in order (L1, PROTOCOL §13)`, async (context) => {
      // Of its own: what there is at the beginning would fill the buffers of a proxy that gathers, and go through at once.
      const service = await startTestService()
      services.push(service)
      const url = await urlThrough(line, service)
      const { fetch, seen } = watched()
      const numbers: number[] = []
      const ended = new AbortController()
      context.after(() => ended.abort())
      let isWaiting = false
      const follower = clientOf({ ...service, url }, { fetch }).follow({
        after: 0,
        // By itself a client on a slow machine might take a late mark for one that is held back.
        transport: way === 'wait' ? 'auto' : 'stream',
        signal: ended.signal,
        onMark: () => void (isWaiting = true),
      })
      const reading = (async () => {
        for await (const { sequenceNumber } of follower) numbers.push(sequenceNumber)
      })()
      await until(() => isWaiting, { what: 'the first mark' })
      for (let round = 0; round < 5; round += 1) {
        const { events } = await publish(service, [{ payload: property() }])
        await until(() => (numbers.at(-1) ?? 0) >= (events[0]?.sequenceNumber ?? 0))
      }
      const { items } = await clientOf(service).after({ after: 0 })
      await until(() => numbers.length >= items.length)
      ended.abort()
      await reading
      assert.deepEqual(numbers.slice(0, items.length), numbersOf(items))
      const used = seen.map(({ path }) =>
        path.includes('/stream') ? 'stream' : path.includes('wait=') ? 'wait' : 'ask',
      )
      assert.ok(used.includes('stream'))
      assert.equal(used.includes('wait'), way === 'wait')
    })
  }
})
