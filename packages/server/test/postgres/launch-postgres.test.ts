/** The server the tests start: durable, private, and gone whatever happens to the process that started it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, it } from 'node:test'
import { until } from '../support/until.ts'
import { launchPostgres } from './launch-postgres.ts'
import { withClient } from './support/standby.ts'

const launcher = JSON.stringify(new URL('./launch-postgres.ts', import.meta.url).href)

describe("the tests' own PostgreSQL", () => {
  it('writes to disk for real, and lets nobody else in', async () => {
    await using server = await launchPostgres()
    const { rows } = await withClient(server.url(), (client) =>
      client.query(
        `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
          current_setting('listen_addresses') AS addresses`,
      ),
    )
    assert.deepEqual(rows, [{ fsync: 'on', commit: 'on', addresses: '' }])
    assert.equal(statSync(dirname(server.socketFile)).mode & 0o077, 0)
  })

  it('keeps its data over a restart, in order or not', async () => {
    await using server = await launchPostgres()
    await withClient(server.url(), (client) => client.query('CREATE TABLE kept AS SELECT 1 AS n'))
    for (const mode of ['fast', 'crash'] as const) {
      await server.halt(mode)
      await server.start()
      const { rowCount } = await withClient(server.url(), (client) => client.query('SELECT FROM kept'))
      assert.equal(rowCount, 1)
    }
  })

  it('goes with its process, even one that is killed', async () => {
    const script = `const { launchPostgres } = await import(${launcher})
      const server = await launchPostgres()
      process.stdout.write(server.dataFolder)
      setInterval(() => 0, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      // As on a machine that has little else.
      env: { PATH: dirname(process.execPath) },
    })
    const [data]: Buffer[] = await once(child.stdout, 'data')
    const folder = data?.toString() ?? ''
    assert.ok(existsSync(folder))
    child.kill('SIGKILL')
    await once(child, 'exit')
    await until(() => !existsSync(folder), { what: `the end of ${folder}` })
  })
})
