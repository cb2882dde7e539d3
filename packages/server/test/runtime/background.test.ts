/** Work that no request waits for tells of its failures, and that it works again: none fails in silence. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { StorageFailure, loadPeppers } from '../../src/index.ts'
import type { BackgroundTask, TaskReport } from '../../src/runtime/background-task.ts'
import { carryOutErasures } from '../../src/privacy/erasure/worker.ts'
import { startAgeing } from '../../src/usage/worker.ts'
import { watchSilence } from '../../src/consumers/silence/worker.ts'
import { flushEveryHalfMinute } from '../../src/runtime/write-buffer.ts'
import { forgetSkippedIds } from '../../src/events/skipped-ids.ts'
import { reportExpiredHolds } from '../../src/privacy/hold/worker.ts'
import { fillBranchViews } from '../../src/events/branches/branch-view-worker.ts'
import { carryOutRetention } from '../../src/privacy/retention/worker.ts'
import { carryOutUnpublishing } from '../../src/tenants/leaving/worker.ts'
import { noRetention } from '../../src/privacy/retention/rules.ts'
import { announceNode, loneNode } from '../../src/nodes/announce-node.ts'
import { consoleSessions } from '../../src/console/sign-in.ts'
import { keyIdCache } from '../../src/keys/key-id-cache.ts'
import { createUseLog } from '../../src/keys/use-log.ts'
import { sharedAnswer } from '../../src/serve/metrics/store-metrics.ts'
import { timeReservation } from '../../src/events/time-reservation.ts'
import { until } from '../support/until.ts'
import { temporaryStore } from '../support/temporary-store.ts'

/** Fails the first time and works from then on. */
function once<T>(answer: T): () => Promise<T> {
  let calls = 0
  return async () => {
    calls += 1
    if (calls === 1) throw new StorageFailure('storage_unavailable')
    return answer
  }
}

const unasked = (): never => assert.fail('not asked')

/** For each task, what makes two tries of it. */
const tries: Partial<Record<BackgroundTask, (report: TaskReport, said: () => number) => Promise<void>>> = {
  async read_key_ids(report) {
    const ids = keyIdCache(
      { keyIds: once([]) },
      () => 0,
      async () => undefined,
      report,
    )
    assert.equal(await ids.renewed(), false)
    assert.equal(await ids.renewed(), true)
  },
  async record_key_uses(report) {
    const uses = createUseLog({ recordKeyUses: once(undefined) }, report)
    uses.record('a', 1)
    await assert.rejects(uses.flush())
    await uses.close()
  },
  async use_session(report) {
    await using store = await temporaryStore()
    let nowMs = 0
    const parts = { store: { ...store.consoleSessions, use: once(undefined) }, clock: () => nowMs, report }
    const sessions = consoleSessions(parts)
    const { cookie, half } = await sessions.begin('key', { by: 'link', tenantIds: [] })
    for (let minute = 1; minute <= 2; minute += 1) {
      nowMs = minute * 60_000
      assert.notEqual(await sessions.find(cookie, half), undefined)
    }
  },
  async announce_node(report) {
    const announce = once(1)
    const peppers = loadPeppers({ folder: undefined, given: undefined })
    const nodes = {
      announce,
      retire: async () => undefined,
      live: unasked,
      pepperId: unasked,
      finishPepper: unasked,
      isShared: false,
    }
    const facts = { peppers, state: loneNode(), report }
    for (let start = 0; start < 2; start += 1) await (await announceNode(nodes, facts)).close()
  },
  async forget_ids(report, said) {
    const forgetting = forgetSkippedIds({ forgetSkippedIds: once(0) }, 1, report)
    await until(() => said() >= 2)
    await forgetting.close()
  },
  async add_notes(report) {
    const flush = once(undefined)
    const flushing = flushEveryHalfMinute([{ flush }], report)
    await assert.rejects(flushing.flush())
    await flushing.close()
  },
  async age_notes(report, said) {
    await using store = await temporaryStore()
    const storage = { ...store, usage: { ...store.usage, age: once(0) } }
    const ageing = startAgeing(storage, report, { everyMs: 1 })
    await until(() => said() >= 2)
    await ageing.close()
  },
  async watch_silence(report, said) {
    await using store = await temporaryStore()
    const storage = { ...store, silence: { ...store.silence, takeTurn: once(undefined) } }
    const watching = watchSilence(storage, { tell: unasked, report, everyMs: 1 })
    await until(() => said() >= 2)
    await watching.close()
  },
  async report_holds(report, said) {
    await using store = await temporaryStore()
    const storage = { holds: { ...store.holds, reportExpired: once([]) } }
    const reporting = reportExpiredHolds(storage, { warn: unasked }, report, 1)
    await until(() => said() >= 2)
    await reporting.close()
  },
  async erase(report, said) {
    await using store = await temporaryStore()
    const storage = {
      events: store.events,
      restrictions: store.restrictions,
      erasures: { ...store.erasures, open: once([]) },
      tenants: store.tenants,
    }
    const nothing = async () => undefined
    const erasing = carryOutErasures({ storage, nodeId: 'a', forget: nothing, compare: nothing, report })
    await until(() => said() >= 2)
    await erasing.close()
  },
  async retain(report, said) {
    await using store = await temporaryStore()
    const storage = { ...store, retention: { ...store.retention, rules: once([]) } }
    const compare = async () => undefined
    const parts = { storage, nodeId: 'a', defaults: noRetention, compare, report, everyMs: 1 }
    const retaining = carryOutRetention(parts)
    await until(() => said() >= 2)
    await retaining.close()
  },
  async unpublish(report, said) {
    await using store = await temporaryStore()
    const storage = { ...store, leaving: { ...store.leaving, list: once([]) } }
    const unpublishing = carryOutUnpublishing({ storage, report, everyMs: 1 })
    await until(() => said() >= 2)
    await unpublishing.close()
  },
  async fill_views(report, said) {
    await using store = await temporaryStore()
    const storage = { ...store, branchViews: { ...store.branchViews, due: once([]) } }
    const filling = fillBranchViews({ storage, report, everyMs: 1 })
    await until(() => said() >= 2)
    await filling.close()
  },
  async reserve_time(report) {
    const reservation = timeReservation({ renew: once({ moment: 1n, reserved: 100_000_000n }), report })
    await assert.rejects(reservation.renewed())
    assert.equal(reservation.aheadMs(), undefined)
    await reservation.renewed()
    const aheadMs = reservation.aheadMs() ?? Number.NaN
    assert.ok(aheadMs <= 10_000, `${aheadMs} ms`)
    reservation.stop()
  },
  async measure_store(report) {
    const ask = sharedAnswer(once(7), report)
    assert.equal(await ask(), undefined)
    assert.equal(await ask(), 7)
  },
}

for (const [task, makeTries] of Object.entries(tries)) {
  it(`reports when it fails and when it works again: ${task}`, async () => {
    const said: string[] = []
    const report: TaskReport = {
      failed(name, error) {
        assert.ok(error instanceof StorageFailure)
        said.push(`${name} failed`)
      },
      worked: (name) => said.push(`${name} worked`),
    }
    await makeTries(report, () => said.length)
    assert.deepEqual(said.slice(0, 2), [`${task} failed`, `${task} worked`])
  })
}
