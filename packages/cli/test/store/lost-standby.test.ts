/** The only synchronous standby is lost: what docs/operating/backup-and-restore.md says of it. It takes as long as a commit is waited for. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { launchPostgres } from '../../../server/test/postgres/launch-postgres.ts'
import { withClient } from '../../../server/test/postgres/support/standby.ts'
import { isLongRun } from '../../../server/test/support/on-engines.ts'
import { until } from '../../../server/test/support/until.ts'
import { listEvents, removeFolder, runJson, start, temporaryFolder } from '../support/program.ts'

const root = temporaryFolder()
after(() => removeFolder(root))

describe(
  'without its only synchronous standby',
  { skip: isLongRun ? false : 'takes half a minute: test:long' },
  () => {
    it('publishing is answered 503 and reading goes on, until the standby is taken out (P7)', async () => {
      await using server = await launchPostgres()
      const environment = {
        PROPERTY_EVENTS_DATABASE: server.url(),
        PROPERTY_EVENTS_KEY_PEPPER: 'the same on every node',
      }
      const node = await start(['serve', '--data', join(root, 'node')], { environment })
      after(() => node.child.kill('SIGKILL'))
      await runJson(['tenants', 'create', 'Hill & Co'], { environment })
      const keyFor = async (scope: string) => {
        const args = ['keys', 'create', '--tenant', 'Hill & Co', '--scope', scope]
        return (await runJson<{ key: string }>(args, { environment })).key
      }
      const [readKey, publishKey] = [await keyFor('read'), await keyFor('publish')]
      const id = randomUUID()
      const publish = () =>
        fetch(`${node.line.url}/v1/property-events`, {
          method: 'POST',
          headers: { 'x-api-key': publishKey, 'content-type': 'application/json' },
          body: JSON.stringify({ id, payload: { agent_ref: id, published: true } }),
        })
      const nameStandby = (name: string) =>
        withClient(server.url(), async (client) => {
          await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
          await client.query('SELECT pg_reload_conf()')
          await until(
            async () =>
              (await client.query('SHOW synchronous_standby_names')).rows[0].synchronous_standby_names ===
              name,
          )
        })
      await nameStandby('gone')
      const asked = publish()
      assert.equal((await listEvents(node.line.url, readKey)).status, 200)
      const refused = await asked
      assert.equal(refused.status, 503)
      assert.equal(refused.headers.get('retry-after'), '5')
      assert.equal(((await refused.json()) as { code: string }).code, 'storage_unavailable')
      assert.equal((await listEvents(node.line.url, readKey)).status, 200)
      await nameStandby('')
      const isTaken = async () => [200, 201].includes((await publish()).status)
      await until(isTaken, { what: 'a stored publication', timeoutMs: 60_000 })
      assert.equal((await listEvents(node.line.url, readKey)).body.availableCount, 1, 'stored once')
      assert.equal((await node.stop()).code, 0)
    })
  },
)
