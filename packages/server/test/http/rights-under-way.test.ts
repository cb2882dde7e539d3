/** A right that is lost while a request waits, sends its body or takes its answer: on the machine's own clock (PROTOCOL §2.5). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sandboxTenantId } from '@property-events/protocol'
import type { StorageEngine } from '../../src/index.ts'
import { makeLoginLink } from '../../src/console/sign-in.ts'
import {
  atDoor,
  consoleFolder,
  getSession,
  postSession,
  sessionHeaders,
  signIn,
} from '../support/console-page.ts'
import { openStream } from '../support/event-stream.ts'
import { ways } from '../support/held-readers.ts'
import type { Held, WayName } from '../support/held-readers.ts'
import { call, listPath, problemOf, publish } from '../support/http-client.ts'
import type { Answer } from '../support/http-client.ts'
import { isLongRun } from '../support/on-engines.ts'
import { property } from '../support/property.ts'
import { head, open } from '../support/raw-socket.ts'
import { startTestService } from '../support/test-service.ts'
import type { TestService } from '../support/test-service.ts'
import { until, within } from '../support/until.ts'

const actor = 'cli:test'
const path = '/v1/property-events'
/** Two are promised; the rest is for a busy machine. A stream that notices with its next mark takes 12 s on average. */
const promisedMs = 2_000 + 1_500

async function readerOf(service: TestService) {
  return service.issue({ grants: [{ tenantId: service.tenant.tenantId, scopes: ['property:read'] }] })
}

describe('a key that is limited to other networks', () => {
  it('reads nothing more after two seconds, however its reader waits (PROTOCOL §2.5, D11)', async () => {
    const service = await startTestService({ engine: 'sqlite', console: { folder: consoleFolder() } })
    const held: Held[] = []
    try {
      const { storage, port } = service
      await publish(service, { payload: property() })
      const { text: key, keyId } = await readerOf(service)
      const session = await signIn(service, { key })
      const place = { port, key, feed: 'property', after: 1, session, headers: {} } as const
      const names = Object.keys(ways).filter(
        (way): way is WayName => Object.hasOwn(ways, way) && !way.includes('snapshot'),
      )
      const reading = await Promise.all(names.map(async (way) => ({ way, held: await ways[way](place) })))
      held.push(...reading.map((one) => one.held))
      const waiting = async () =>
        (await (await fetch(service.service.metricsUrl ?? '')).text()).match(/waiting_requests.* [12]$/gm)
      await until(async () => (await waiting())?.length === 3, { what: 'each way of waiting' })
      await storage.keys.changeKey(keyId, { networks: ['192.0.2.0/24'] }, actor)
      const ends = reading.map(async (one) => {
        const end = await within(one.held.ended, { what: `the end of ${one.way}`, timeoutMs: promisedMs })
        assert.match(end, one.way.includes('stream') ? /^cut off$/ : /^key_network$/, one.way)
      })
      await Promise.all(ends)
    } finally {
      for (const one of held) one.close()
      await service.stop()
    }
  })
})

/** A machine's own buffers take some megabytes. */
const longBytes = 60_000
const count = 250

const transports = isLongRun ? [true, false] : [true]

/** Over both transports in the long run; a snapshot goes through Node's HTTP in any case. */
function onTransports(
  title: string,
  tests: (transport: { readonly plainConnections: boolean }) => void,
): void {
  for (const plainConnections of transports) {
    const words = plainConnections ? '' : ', by Node’s HTTP alone'
    describe(`${title}${words}`, () => tests({ plainConnections }))
  }
}

onTransports('an answer that its reader takes slowly', (transport) => {
  for (const target of [`${listPath}?pageSize=1000`, `${path}/snapshot`]) {
    it(`is cut off when its key is revoked: ${target} (PROTOCOL §2.5, D11)`, async () => {
      const service = await startTestService({ ...transport, engine: 'sqlite' })
      try {
        const summary = 'Tŷ £ – '.repeat(longBytes / 10)
        for (let at = 0; at < count; at += 100) {
          await publish(
            service,
            Array.from({ length: 100 }, () => ({ payload: property({ details: { summary } }) })),
          )
        }
        const { text: key, keyId } = await readerOf(service)
        const whole = (await call(service, target, { key })).body.byteLength
        const socket = await open(service.port)
        socket.pause()
        socket.write(head(`GET ${target} HTTP/1.1`, `x-api-key: ${key}`))
        const ended = () =>
          service.logLines.filter((line) => line.includes(keyId) && line.includes('"aborted":true'))
        await until(() => socket.readableLength > 0 || socket.bytesRead > 0 || ended().length > 0, {
          what: 'a first piece',
        })
        assert.equal(ended().length, 0)
        await service.storage.keys.revokeKey(keyId, Date.now(), actor)
        await until(() => ended().length === 1, { what: 'the end of the answer', timeoutMs: 10_000 })
        let bytes = 0
        const closed = Promise.withResolvers<void>()
        socket.on('data', (piece: Buffer) => (bytes += piece.byteLength))
        socket.on('error', () => undefined)
        socket.on('close', () => closed.resolve())
        socket.resume()
        await within(closed.promise, { what: 'the end of the connection' })
        assert.ok(bytes < whole, `${bytes} of ${whole} bytes`)
      } finally {
        await service.stop()
      }
    })
  }
})

/** A service that says which keys have been looked up, so that a key is taken away from requests that were let in. */
async function startSeeing(transport: { readonly plainConnections: boolean }) {
  const seen = new Set<string>()
  const wrap = (storage: StorageEngine): StorageEngine => {
    const findKey = async (keyId: string) => {
      const found = await storage.keys.findKey(keyId)
      seen.add(keyId)
      return found
    }
    const keys = { ...storage.keys, findKey }
    return { ...storage, keys, [Symbol.asyncDispose]: () => storage.close() }
  }
  const service = await startTestService({ ...transport, wrap })
  return {
    service,
    /** Resolves two seconds after the keys were revoked. */
    revoke: async (keyIds: readonly string[]): Promise<void> => {
      await until(() => keyIds.every((keyId) => seen.has(keyId)), { what: 'every request let in' })
      for (const keyId of keyIds) await service.storage.keys.revokeKey(keyId, Date.now(), actor)
      const sinceMs = performance.now()
      await until(() => performance.now() - sinceMs > 2_000, { what: 'two seconds' })
    },
  }
}

onTransports('a request whose key is revoked while it waits', (transport) => {
  it('for a number, gets none of what comes with it (PROTOCOL §2.5, P8)', async () => {
    const { service, revoke } = await startSeeing(transport)
    try {
      await publish(service, { payload: property() })
      const asked = await Promise.all(
        [`${listPath}?page=1`, `${path}?after=1`, `${path}/digest`].map(async (target) => {
          const { text: key, keyId } = await readerOf(service)
          return { keyId, answer: call(service, target, { key, headers: { 'x-feed-min-sequence': '2' } }) }
        }),
      )
      await revoke(asked.map(({ keyId }) => keyId))
      await publish(service, { payload: property() })
      for (const { answer } of asked) assert.equal(problemOf(await answer).code, 'key_revoked')
    } finally {
      await service.stop()
    }
  })

  it('for the rest of its body, publishes nothing and makes no key (PROTOCOL §2.5, D11)', async () => {
    const { service, revoke } = await startSeeing(transport)
    try {
      const { tenantId } = service.tenant
      const slow = async (target: string, value: object) => {
        const { text: key, keyId } = await service.issue({
          grants: [{ tenantId, scopes: ['property:publish', 'property:read', 'tenant:manage'] }],
        })
        const body = JSON.stringify(value)
        const socket = await open(service.port)
        const length = `content-length: ${Buffer.byteLength(body)}`
        socket.write(
          head(`POST ${target} HTTP/1.1`, `x-api-key: ${key}`, 'content-type: application/json', length),
        )
        socket.write(body.slice(0, 10))
        let text = ''
        socket.on('data', (bytes: Buffer) => (text += bytes.toString('utf8')))
        const finish = async (): Promise<string> => {
          socket.write(body.slice(10))
          await until(() => text.endsWith('}'), { what: 'an answer' })
          socket.destroy()
          return text
        }
        return { keyId, finish }
      }
      const grants = [{ tenantId, scopes: ['property:read'] }]
      const sending = [
        await slow(path, { payload: property() }),
        await slow('/v1/admin/keys', { label: 'Ŵ £ 🏡', grants }),
      ]
      await revoke(sending.map(({ keyId }) => keyId))
      const keysBefore = (await service.storage.keys.keys()).length
      for (const { finish } of sending) assert.match(await finish(), /"code":"key_revoked"/)
      const { text } = await call(service, `${path}?after=0`, { key: service.tenant.readKey })
      assert.match(text, /"items":\[\]/)
      assert.equal((await service.storage.keys.keys()).length, keysBefore)
    } finally {
      await service.stop()
    }
  })
})

describe('a session with a test key', () => {
  it('does nothing on a node where test keys do not work, and ends there (PROTOCOL §2.8)', async () => {
    const service = await startTestService({ testKeys: true, console: { folder: consoleFolder() } })
    const node = await service.another({ testKeys: false })
    try {
      const { storage } = service
      const sandbox = { tenantId: sandboxTenantId, name: 'Sandbox', createdMs: Date.now(), suspended: false }
      await storage.tenants.createTenant(sandbox, actor)
      const grants = [{ tenantId: sandboxTenantId, scopes: ['property:read'] as const }]
      const { text: key, keyId } = await service.issue({ grants })
      const session = await signIn(service, { key })
      const refusedAs = async (asking: Promise<Answer>, code: string): Promise<void> =>
        assert.equal(problemOf(await asking).code, code)
      for (const at of ['/v1/admin/self', path, `${path}/snapshot`, '/v1/heads']) {
        assert.equal((await atDoor(service, session, at)).status, 200, at)
        await refusedAs(atDoor(node, session, at), 'console_session_ended')
      }
      await refusedAs(getSession(node, session), 'console_session_ended')
      await refusedAs(postSession(node, { key }), 'unauthorized')
      const login = await makeLoginLink(storage.consoleSessions, keyId, Date.now())
      await refusedAs(postSession(node, { login }), 'login_link_spent')
      const target = `/console/api${path}/stream?after=0`
      const stream = await openStream(node, target, { headers: sessionHeaders(session) })
      assert.equal(stream.status, 401)
      stream.close()
    } finally {
      await node.stop()
      await service.stop()
    }
  })

  it('is refused like the key itself if the key reads both sides (P10)', async () => {
    const service = await startTestService({ testKeys: true, console: { folder: consoleFolder() } })
    try {
      const { storage, tenant } = service
      const sandbox = { tenantId: sandboxTenantId, name: 'Sandbox', createdMs: Date.now(), suspended: false }
      await storage.tenants.createTenant(sandbox, actor)
      const { text: key, keyId } = await readerOf(service)
      const session = await signIn(service, { key })
      const stream = await openStream(service, `${path}/stream?after=0`, { key })
      await storage.keys.grant(keyId, { tenantId: sandboxTenantId, scopes: ['property:read'] }, actor)
      const asked = () => call(service, path, { key, headers: { 'x-tenant': tenant.tenantId } })
      await until(async () => (await asked()).status === 401, { what: 'the key is refused' })
      await until(async () => (await atDoor(service, session, '/v1/admin/self')).status === 401)
      await stream.until(({ hasEnded }) => hasEnded, 'the end of the stream')
    } finally {
      await service.stop()
    }
  })
})
