/** A process of its own that takes the lock, says so, and stays. */
import { acquireServingLock } from '../../../src/storage/open-storage.ts'

const lock = acquireServingLock(process.argv[2] ?? '')
process.stdout.write('release' in lock ? 'held\n' : 'refused\n')
setInterval(() => 0, 60_000)
