/** A node that publishes two events a request and prints what is acknowledged, until it is killed. */
import { openStorage } from '../../../src/store/open-storage.ts'
import { draft } from '../../store/support/drafts.ts'
import { publish } from '../../store/support/read-back.ts'

const [url = '', tenantId = '', name = ''] = process.argv.slice(2)
await using engine = await openStorage({ kind: 'postgres', url, readConnections: 1, create: false })
for (let n = 0; ; n += 1) {
  const drafts = ['first of two', 'second of two'].map((text) =>
    draft({ subject: `${name} ${n}`, id: `${name} ${n} ${text}`, text }),
  )
  const lines = await publish(engine, drafts, { key: { tenantId, feed: 'property' } })
  process.stdout.write(lines.map(({ id, stored }) => `${id} ${stored?.sequenceNumber}\n`).join(''))
}
