/** A sync into tables as the command makes it, but for the size of its batches: a program to be killed. */
import { createClient } from '@property-events/client'
import { keepTables } from '../../src/keep-tables.ts'
import { openTables, readTableTarget } from '../../src/open-tables.ts'

const [text = '', baseUrl = '', key = '', batchSize = ''] = process.argv.slice(2)
const target = readTableTarget(text)
if (target === undefined) throw new Error('no tables')
const tables = await openTables(target, { prefix: '', schema: undefined })
process.stdout.write('open\n')
const keeper = keepTables({
  tables,
  tenant: 'main',
  category: undefined,
  onReadAgain: () => undefined,
  onSkipped: () => undefined,
})
await createClient({ baseUrl, key }).sync({
  checkpoint: keeper.checkpoint,
  copy: keeper.copy,
  batchSize: Number(batchSize),
  pageSize: Number(batchSize),
  allowMassRemoval: true,
  apply: (batch) => keeper.apply(batch),
  onCaughtUp: () => keeper.keep(false),
})
await tables.close()
