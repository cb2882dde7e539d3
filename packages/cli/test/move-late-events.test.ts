/** A source that takes events after it was closed, as only a node of an earlier version could make it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StorageEngine } from '@property-events/server'
import { draft, tenantA } from '../../server/test/storage/support/drafts.ts'
import { headOf, publish } from '../../server/test/storage/support/read-back.ts'
import { withTenants } from '../../server/test/storage/support/stores.ts'
import { temporaryStore } from '../../server/test/support/temporary-store.ts'
import { CopyRefusal, moveTenant } from '@property-events/server'

describe('a tenant that is published in the source after it was closed there', () => {
  it('is not opened in the target: the command says why, and can be run again (P7, P9)', async () => {
    await using source = await withTenants(await temporaryStore())
    await using target = await temporaryStore()
    await publish(source, [draft({ subject: 'p' })])
    let late = 1
    const from: StorageEngine = {
      ...source,
      moves: {
        ...source.moves,
        async change(tenantId, before, next) {
          const outcome = await source.moves.change(tenantId, before, next, 'cli:test')
          if (next !== 'left' || late === 0) return outcome
          late -= 1
          // Such a node does not know that a feed can be closed.
          await source.moves.change(tenantId, 'left', 'open', 'cli:test')
          await publish(source, [draft({ subject: 'q' })])
          await source.moves.change(tenantId, 'open', 'left', 'cli:test')
          return outcome
        },
      },
    }
    const [tenant] = await source.tenants.tenants()
    assert.equal(tenant?.tenantId, tenantA)
    const move = () =>
      moveTenant({
        from,
        to: target,
        actor: 'cli:test',
        tenant,
        withoutKeys: true,
        peppers: undefined,
        onProgress: () => undefined,
        signal: new AbortController().signal,
      })
    await assert.rejects(move(), (error) => {
      assert.ok(error instanceof CopyRefusal, String(error))
      assert.match(
        error.message,
        /^The source has events from after it was closed, so a node of an earlier version serves it\. Bring its nodes up to this version first\. Nothing can be published for the tenant now/,
      )
      return true
    })
    assert.match((await target.moves.states()).get(tenantA) ?? 'open', /^arriving /)
    assert.equal((await source.moves.states()).get(tenantA), 'left')
    // Once no such node is there any more, the same command ends well, with the late event.
    const { feeds } = await move()
    assert.equal(feeds[0]?.events, 2)
    assert.equal((await target.moves.states()).get(tenantA), undefined)
    assert.equal((await headOf(target)).sequenceNumber, 2)
  })
})
