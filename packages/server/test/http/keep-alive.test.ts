/** How long a connection without a request stays open, as every answer announces it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { listPath } from '../support/http-client.ts'
import { onTransports } from '../support/on-engines.ts'
import { collect, head, open } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { within } from '../support/until.ts'

onTransports('a connection that rests', (transport) => {
  async function withService(keepAliveTimeoutMs: number, test: (service: TestService) => Promise<void>) {
    const service = await startTestService({ ...transport, limits: { keepAliveTimeoutMs } })
    try {
      await test(service)
    } finally {
      await service.stop()
    }
  }

  it('is closed when the announced time is over, and not before (D9)', async () => {
    await withService(2_000, async ({ port, tenant }) => {
      const socket = await open(port)
      const ended = once(socket, 'end')
      socket.write(head(`GET ${listPath} HTTP/1.1`, `x-api-key: ${tenant.readKey}`))
      const [bytes] = await within(once(socket, 'data'))
      const answeredMs = performance.now()
      assert.match(String(bytes), /^Connection: keep-alive\r\nKeep-Alive: timeout=2(, max=\d+)?\r$/im)
      await within(ended)
      assert.ok(performance.now() - answeredMs >= 2_000 - 5)
      socket.destroy()
    })
  })

  it('stays open for the next request as long as was announced (D9)', async () => {
    await withService(60_000, async ({ port, tenant }) => {
      const socket = await open(port)
      for (let time = 0; time < 3; time += 1) {
        socket.write(head(`GET ${listPath} HTTP/1.1`, `x-api-key: ${tenant.readKey}`))
        const [bytes] = await within(once(socket, 'data'))
        assert.match(String(bytes), /^Keep-Alive: timeout=60\b/im)
        await delay(50)
      }
      socket.destroy()
    })
  })

  for (const lines of [[], ['Connection: keep-alive']]) {
    it(`is closed after an answer to HTTP/1.0, which announces nothing, with ${lines.length} lines about it (D9)`, async () => {
      await withService(60_000, async ({ port, tenant }) => {
        const socket = await open(port)
        const answered = collect(socket, { waitMs: 30_000 })
        socket.write(head(`GET ${listPath} HTTP/1.0`, `x-api-key: ${tenant.readKey}`, ...lines))
        const { text } = await within(answered)
        assert.match(text, /^HTTP\/1\.[01] 200 /)
        assert.match(text, /^connection: close\r$/im)
        assert.doesNotMatch(text, /^keep-alive:/im)
      })
    })
  }
})
