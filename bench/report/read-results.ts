/** The raw results that the document is made from: for each job, the run with the most events. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { JobResults } from '../support/recorder.ts'
import { jobTexts } from './job-texts.ts'

/** A job's results, and the remarks on them. */
export interface ReportedJob extends JobResults {
  readonly remark: string | undefined
}

/** In the order of the document. Jobs that were never run are left out. */
export function readResults(resultsFolder: string, remarksFolder: string): readonly ReportedJob[] {
  const runs = readdirSync(resultsFolder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name): JobResults => JSON.parse(readFileSync(join(resultsFolder, name), 'utf8')))
  return Object.keys(jobTexts).flatMap((name) => {
    const [largest] = runs
      .filter((run) => run.name === name)
      .toSorted((a, b) => b.settings.events - a.settings.events)
    if (largest === undefined) return []
    const remark = join(remarksFolder, `${name}.md`)
    return [{ ...largest, remark: existsSync(remark) ? readFileSync(remark, 'utf8').trim() : undefined }]
  })
}
