/** Goes on with a restriction in a process of its own, a line for each step, until it is killed or nothing is left. */
import { openPlace } from './killed-program.ts'

const [kind = '', name = '', restrictionId = '', events = '5'] = process.argv.slice(2)
const store = await openPlace({ kind: kind === 'sqlite' ? kind : 'postgres', name })
while ((await store.restrictions.step(restrictionId, Number(events))).kind === 'reduced')
  process.stdout.write('step\n')
await store.close()
