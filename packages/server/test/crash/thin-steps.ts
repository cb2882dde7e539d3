/** Goes on with retention in a process of its own, a line for each step, until it is killed or nothing is left. */
import { openStorage } from '../../src/storage/open-storage.ts'
import { feedKey } from '../storage/support/drafts.ts'

const [folder = '', before = '', nodeId = ''] = process.argv.slice(2)
const store = await openStorage({ kind: 'sqlite', folder, create: false })
const span = { key: feedKey(), before: BigInt(before), supersededBefore: BigInt(before) }
while ((await store.retention.thin(span, 5, nodeId)).kind === 'thinned') process.stdout.write('step\n')
await store.close()
