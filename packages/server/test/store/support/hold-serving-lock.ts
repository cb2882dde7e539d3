/**
 * A process of its own that takes the lock, asks for it again, says what it was told, and stays. It keeps nothing of
 * what it was given, and collects its garbage before it speaks (`--expose-gc`): the lock must go neither with a value
 * nobody holds nor with a second question.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { acquireServingLock } from '../../../src/store/open-storage.ts'

const folder = process.argv[2] ?? ''
const answers = [0, 1].map(() => ('release' in acquireServingLock(folder) ? 'held' : 'refused'))
const collect = globalThis.gc
if (collect === undefined) throw new Error('this program is to be run with --expose-gc')
for (let turns = 0; turns < 3; turns += 1) {
  await turn()
  await collect({ execution: 'async', type: 'major' })
}
process.stdout.write(`${answers.join(', ')}\n`)
setInterval(() => 0, 60_000)
