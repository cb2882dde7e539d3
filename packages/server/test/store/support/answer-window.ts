/** A process that answers one open window of the store in a folder at a time of its own, says so, and lives on until it is killed. */
import { openStorage } from '../../../src/store/open-storage.ts'
import { located } from './read-back.ts'
import { testClock } from './test-clock.ts'

const [folder = '', time = ''] = process.argv.slice(2)
const { clock } = testClock(time)
await using store = await openStorage({ kind: 'sqlite', folder, create: false, clock })
await located(store, { from: 0n })
process.stdout.write('answered\n')
await new Promise((resolve) => setTimeout(resolve, 60_000))
