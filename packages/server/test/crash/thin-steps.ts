/** Goes on with retention in a process of its own, a line for each step, until it is killed or nothing is left. */
import { feedKey } from '../store/support/drafts.ts'
import { openPlace } from './killed-program.ts'

const [kind = '', name = '', before = '', nodeId = '', events = '5'] = process.argv.slice(2)
const store = await openPlace({ kind: kind === 'sqlite' ? kind : 'postgres', name })
const span = { key: feedKey(), before: BigInt(before), supersededBefore: BigInt(before) }
while ((await store.retention.thin(span, Number(events), nodeId)).kind === 'thinned')
  process.stdout.write('step\n')
await store.close()
