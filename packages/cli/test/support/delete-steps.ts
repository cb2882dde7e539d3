/** Goes on with deleting a tenant in a process of its own, a line for each commit, until it is killed or the tenant is gone. */
import { setTimeout as delay } from 'node:timers/promises'
import { uuidV7 } from '@property-events/protocol'
import { openPlace } from '../../../server/test/crash/killed-program.ts'
import { exportFor } from '@property-events/server'

const [kind = '', name = '', tenantId = '', file = '', events = '5', rest = ''] = process.argv.slice(2)
const actor = 'cli:test'
await using store = await openPlace({ kind: kind === 'sqlite' ? kind : 'postgres', name })
const { deletions } = store
const said = (): void => void process.stdout.write('step\n')
const tenant = (await store.tenants.tenants()).find((one) => one.tenantId === tenantId)
if (tenant !== undefined) {
  const request = { deletionId: uuidV7(Date.now()), tenantId, export: 'caller' as const }
  const outcome = await deletions.begin(request, actor)
  if (outcome.kind !== 'begun') throw new Error(outcome.kind)
  const { deletionId } = outcome.deletion
  said()
  if (outcome.deletion.state === 'exporting') {
    const exported = await exportFor(store, outcome, tenant, file, actor)
    said()
    // Time for being killed between the two.
    if (rest === 'rest') await delay(2_000)
    await deletions.exported(deletionId, exported)
    said()
  }
  while ((await deletions.step(deletionId, Number(events))) === 'removed') said()
  await deletions.acknowledge(deletionId, undefined)
  said()
}
