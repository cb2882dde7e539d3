/** A node of its own that publishes for a while, and no less than so many events, and then prints what was acknowledged. */
import { openStorage } from '../../../src/store/open-storage.ts'
import { engineTarget } from './engine-target.ts'
import { publishLoad } from './load.ts'

const [url = '', tenantId = '', name = '', publishers = '', untilMs = '', least = ''] = process.argv.slice(2)
await using engine = await openStorage({ kind: 'postgres', url, readConnections: 1, create: false })
const target = engineTarget(engine, { tenantId, feed: 'property' })
let begun = 0
const isOver = (): boolean => (begun += 1) > Number(least) && Date.now() >= Number(untilMs)
const log = await publishLoad(target, name, Number(publishers), isOver)
process.stdout.write(JSON.stringify(log))
