import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { idleSessionMs, sessionsPerKey, sessionsPerStep } from '../../../src/console/session.ts'
import type { ConsoleSession } from '../../../src/console/session.ts'
import { uuid } from '../support/drafts.ts'
import type { StoreFactory } from '../support/stores.ts'

const nowMs = Date.UTC(2026, 2, 1)
const byLink = { by: 'link', tenantIds: [] } as const

function session(name: string, changes: Partial<ConsoleSession> = {}): ConsoleSession {
  return {
    cookieHash: `cookie of ${name}`,
    halfHash: `half of ${name}`,
    keyId: 'key',
    begunMs: nowMs,
    endsMs: nowMs + 12 * 3_600_000,
    usedMs: nowMs,
    ...changes,
  }
}

export function consoleSessionsContract(factory: StoreFactory): void {
  describe('sessions of the console', () => {
    it('spends a link once, however many try at the same time, and none that is too old (PROTOCOL §15.3)', async () => {
      await using store = await factory.create()
      const { consoleSessions: sessions } = store
      await sessions.addLink({ linkHash: 'one', keyId: 'key', expiresMs: nowMs + 1 })
      await sessions.addLink({ linkHash: 'old', keyId: 'key', expiresMs: nowMs })
      const spent = await Promise.all(Array.from({ length: 8 }, () => sessions.spendLink('one', nowMs)))
      assert.deepEqual(
        spent.filter((keyId) => keyId !== undefined),
        ['key'],
      )
      assert.equal(await sessions.spendLink('old', nowMs), undefined)
      assert.equal(await sessions.spendLink('never made', nowMs), undefined)
    })

    it('keeps a session until it is ended, and the latest of its uses (PROTOCOL §15.3)', async () => {
      await using store = await factory.create()
      const { consoleSessions: sessions } = store
      await sessions.begin(session('one'), byLink, 'key:key')
      await sessions.use('cookie of one', nowMs + 2)
      await sessions.use('cookie of one', nowMs + 1)
      await sessions.use('cookie of nobody', nowMs)
      assert.deepEqual(await sessions.find('cookie of one'), session('one', { usedMs: nowMs + 2 }))
      await sessions.end('cookie of one')
      await sessions.end('cookie of one')
      assert.equal(await sessions.find('cookie of one'), undefined)
    })

    it('writes into the audit of each tenant of the key that somebody signed in, and how (PROTOCOL §15.3)', async () => {
      await using store = await factory.create()
      const tenantIds = [uuid('tenant one'), uuid('tenant two')]
      await store.consoleSessions.begin(session('one'), byLink, 'key:key')
      await store.consoleSessions.begin(session('two'), { by: 'pasted_key', tenantIds }, 'key:key')
      const rows = await store.audit.read({ first: 'oldest', limit: 10, action: 'session.begun' })
      assert.ok(rows !== 'unknownRow')
      assert.deepEqual(
        rows.map(({ actor, tenant, target, detail }) => [actor, tenant, target, detail['by']]),
        [
          ['key:key', null, 'key', 'link'],
          ['key:key', tenantIds[0], 'key', 'pasted_key'],
          ['key:key', tenantIds[1], 'key', 'pasted_key'],
        ],
      )
    })

    it('ends the least recently used one if a key has too many (PROTOCOL §15.3)', async () => {
      await using store = await factory.create()
      const { consoleSessions: sessions } = store
      for (let index = 0; index < sessionsPerKey; index += 1) {
        await sessions.begin(session(`${index}`, { usedMs: nowMs + index }), byLink, 'service')
      }
      await sessions.begin(session('of another', { keyId: 'other', usedMs: nowMs - 1 }), byLink, 'service')
      await sessions.use('cookie of 0', nowMs + 1_000)
      await sessions.begin(session('one more', { usedMs: nowMs + 2_000 }), byLink, 'service')
      const names = ['0', '1', '2', 'of another', 'one more']
      const found = await Promise.all(names.map((name) => sessions.find(`cookie of ${name}`)))
      assert.deepEqual(
        found.map((one) => one !== undefined),
        [true, false, true, true, true],
      )
    })

    it('removes what has ended step by step, and nothing else (PROTOCOL §15.3)', async () => {
      await using store = await factory.create()
      const { consoleSessions: sessions } = store
      for (let index = 0; index <= sessionsPerStep; index += 1) {
        await sessions.addLink({ linkHash: `link ${index}`, keyId: 'key', expiresMs: nowMs })
      }
      await sessions.addLink({ linkHash: 'good', keyId: 'key', expiresMs: nowMs + 1 })
      await sessions.begin(session('over', { endsMs: nowMs }), byLink, 'service')
      await sessions.begin(session('unused', { usedMs: nowMs - idleSessionMs - 1 }), byLink, 'service')
      await sessions.begin(session('good', { usedMs: nowMs - idleSessionMs }), byLink, 'service')
      const removed = [await age(), await age(), await age()]
      assert.deepEqual(removed, [sessionsPerStep + 2, 1, 0])
      assert.equal(await sessions.find('cookie of over'), undefined)
      assert.equal(await sessions.find('cookie of unused'), undefined)
      assert.notEqual(await sessions.find('cookie of good'), undefined)
      assert.equal(await sessions.spendLink('good', nowMs), 'key')

      function age(): Promise<number> {
        return sessions.age(nowMs, nowMs - idleSessionMs)
      }
    })
  })
}
