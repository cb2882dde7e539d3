/**
 * Publishes without end into the store in the folder named, until it is killed; writes an acknowledgement to stdout when
 * an append has resolved, and not before. `early` acknowledges before the commit, for the test that must notice.
 */
import { writeSync } from 'node:fs'
import { randomInt } from 'node:crypto'
import { uuidV7 } from '@property-events/protocol'
import { openStorage } from '../../src/store/open-storage.ts'
import { batch, draft } from '../store/support/drafts.ts'
import { receipt } from '../store/support/read-back.ts'
import { markText } from './acknowledgements.ts'
import { acknowledgeEarly } from './early-acknowledgement.ts'

const [folder = '', run = '', mode] = process.argv.slice(2)
const store = await openStorage({ kind: 'sqlite', folder, create: false })
const events = mode === 'early' ? acknowledgeEarly(store.events) : store.events

async function publishForEver(publisher: number): Promise<never> {
  for (let n = 0; ; n += 1) {
    // Now and then several requests are gathered into one commit.
    const requests = Array.from({ length: randomInt(1, 4) }, (_, part) => `${run}.${publisher}.${n}.${part}`)
    const batches = requests.map((request) => batch(draftsOf(request, randomInt(1, 6))))
    const outcomes = await events.append(batches)
    for (const [index, request] of requests.entries()) {
      const lines = receipt(outcomes[index])
      const stored = lines.map(({ id, stored }) => ({ id, sequenceNumber: stored?.sequenceNumber ?? 0 }))
      writeSync(1, `${JSON.stringify({ request, events: stored })}\n`)
    }
  }
}

function draftsOf(request: string, size: number) {
  return Array.from({ length: size }, (_, index) => {
    const sent = draft({ subject: request + index, text: markText({ request, index, size }) })
    return { ...sent, id: uuidV7(Date.now()) }
  })
}

await Promise.all([0, 1, 2].map(publishForEver))
