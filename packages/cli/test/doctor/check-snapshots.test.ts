/** What doctor says of who keeps old versions of rows alive. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkSnapshots } from '../../src/doctor/check-snapshots.ts'

describe('doctor, of old snapshots', () => {
  it('is content with none, and with young ones', () => {
    assert.deepEqual(checkSnapshots([]), { check: 'snapshots', status: 'ok', detail: 'none is held' })
    const young = { holder: 'session', transactions: 12, seconds: 3.2, name: 'pid 77, psql' } as const
    assert.deepEqual(checkSnapshots([young]), {
      check: 'snapshots',
      status: 'ok',
      detail: 'the oldest is held by a session (pid 77, psql): 12 transactions, 3 s',
    })
  })

  it('names the oldest, and says how each kind is ended', () => {
    const young = { holder: 'prepared', transactions: 49_999, seconds: 1, name: 'batch' } as const
    const remedies = (
      [
        ['session', 'pid 77, pg_dump', /pg_terminate_backend\(77\).*pg_basebackup/],
        ['standby', 'pid 78, standby', /hot_standby_feedback = off/],
        ['slot', 'of_standby', /pg_drop_replication_slot\('of_standby'\)/],
        ['catalog_slot', 'nobody', /pg_drop_replication_slot\('nobody'\)/],
        ['prepared', 'batch 7', /ROLLBACK PREPARED 'batch 7'/],
      ] as const
    ).map(([holder, name, remedy]) => {
      const finding = checkSnapshots([young, { holder, name, transactions: 50_000, seconds: undefined }])
      assert.equal(finding.status, 'warn')
      assert.match(finding.detail, new RegExp(`\\(${name}\\): 50000 transactions; every version`))
      assert.match(finding.remedy ?? '', remedy)
      return finding.remedy
    })
    assert.equal(new Set(remedies).size, 5)
  })
})
