/** Writes `docs/performance.md` from the raw results: `npm run bench:report`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConsoleResults } from './report/console-section.ts'
import { performanceDocument } from './report/document.ts'
import { readResults } from './report/read-results.ts'
import { readWhys } from './report/why.ts'

const folder = import.meta.dirname
const results = join(folder, 'results')
const jobs = readResults(results, join(folder, 'remarks'))
writeFileSync(
  join(folder, '../docs/performance.md'),
  performanceDocument(jobs, readWhys(results), readConsoleResults(results)),
)
