/** Goes on with an erasure in a process of its own, a line for each step, until it is killed or nothing is left. */
import { openStorage } from '../../src/storage/open-storage.ts'

const [kind = '', place = '', erasureId = ''] = process.argv.slice(2)
const store = await openStorage(
  kind === 'sqlite'
    ? { kind, folder: place, create: false }
    : { kind: 'postgres', url: place, readConnections: 1, create: false },
)
while ((await store.erasures.reduce(erasureId, 5)).kind === 'reduced') process.stdout.write('step\n')
await store.close()
