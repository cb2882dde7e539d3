/** Goes on with the views of sets of branches in a process of its own, a line for each step, until it is killed or nothing is left. */
import { openPlace } from './killed-program.ts'

const [kind = '', name = '', events = '5'] = process.argv.slice(2)
const store = await openPlace({ kind: kind === 'sqlite' ? kind : 'postgres', name })
for (const set of await store.branchViews.due()) {
  while ((await store.branchViews.step(set, Number(events))) === 'more') process.stdout.write('step\n')
}
await store.close()
