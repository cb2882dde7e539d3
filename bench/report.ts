/** Writes `docs/performance.md` from the raw results: `npm run bench:report`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { performanceDocument } from './report/document.ts'
import { readResults } from './report/read-results.ts'
import { readWhys } from './report/why.ts'

const folder = import.meta.dirname
const jobs = readResults(join(folder, 'results'), join(folder, 'remarks'))
writeFileSync(
  join(folder, '../docs/performance.md'),
  performanceDocument(jobs, readWhys(join(folder, 'results'))),
)
