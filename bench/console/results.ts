/** What `bench/console.ts` records of a run, and the lines that people read of it. */
import { median, rounded } from '../support/figures.ts'
import type { JobResults } from '../support/recorder.ts'

export interface ConsoleResults {
  readonly name: 'console'
  readonly takenAt: string
  readonly machine: JobResults['machine']
  readonly browser: string
  readonly events: number
  readonly paints: readonly Paint[]
  readonly scrolls: readonly Scroll[]
  readonly propertyPage: PropertyPage
  readonly starts: readonly Start[]
  readonly sizes: readonly Size[]
}

/** A page loaded with nothing in the browser's cache. Milliseconds from the beginning of the navigation. */
export interface Paint {
  readonly page: string
  readonly line: string
  /** The first text or picture. */
  readonly firstPaintMs: readonly number[]
  /** When the main content of the page is there, such as the first row of a list. */
  readonly shownMs: readonly number[]
}

export interface Scroll {
  readonly way: string
  readonly frameMs: readonly number[]
  readonly mostRows: number
  readonly pagesAsked: number
}

export interface PropertyPage {
  /** The operations that were requested. */
  readonly requests: readonly string[]
  readonly shownMs: readonly number[]
}

export interface Start {
  readonly build: 'before' | 'now'
  /** `first` loads the market, `next` finds it. */
  readonly start: 'first' | 'next'
  /** From the start of the process to the line that says it is ready. */
  readonly readyMs: readonly number[]
  /** Resident, at rest. */
  readonly memoryMiB: readonly number[]
}

export interface Size {
  readonly file: string
  readonly bytes: number
  readonly gzippedBytes: number
}

/** A figure beside its target. */
export interface Line {
  readonly what: string
  readonly figure: string
  readonly aim: string
}

const onLoopback = 'loopback'
const frameAimMs = 20

/** Medians; for frames, the share that is fast enough. */
export function linesOf(results: ConsoleResults): readonly Line[] {
  const { paints, scrolls, propertyPage, starts, sizes } = results
  return [
    ...paints.flatMap(({ page, line, firstPaintMs, shownMs }) => [
      {
        what: `${page}, ${line}: first paint`,
        figure: ms(firstPaintMs),
        aim: line === onLoopback ? '≤ 300 ms' : '≤ 1,500 ms',
      },
      { what: `${page}, ${line}: all there`, figure: ms(shownMs), aim: '' },
    ]),
    ...scrolls.map(({ way, frameMs, mostRows, pagesAsked }) => ({
      what: `${way}, ${frameMs.length} frames: 95 % of them (99 %; most rows, pages asked for)`,
      figure: `${rounded(quantile(frameMs, 0.95))} ms (${rounded(quantile(frameMs, 0.99))} ms; ${mostRows}, ${pagesAsked})`,
      aim: `≤ ${frameAimMs} ms`,
    })),
    { what: 'page of a property: requests', figure: String(propertyPage.requests.length), aim: '2' },
    { what: 'page of a property: all there', figure: ms(propertyPage.shownMs), aim: '' },
    ...starts.map(({ build, start, readyMs, memoryMiB }) => ({
      what: `demo, ${start} start, ${build === 'now' ? 'this build' : 'the build before the console'}`,
      figure: `${ms(readyMs)}, ${rounded(median(memoryMiB))} MiB`,
      aim: build === 'now' ? 'as before' : '',
    })),
    ...sizes.map(({ file, bytes, gzippedBytes }) => ({
      what: `${file}, gzipped (as it is)`,
      figure: `${rounded(gzippedBytes / 1_000)} kB (${rounded(bytes / 1_000)})`,
      aim: sizeAims[file] ?? '',
    })),
  ]
}

/** Asserted by `packages/console/test/build.test.ts`. */
const sizeAims: Readonly<Record<string, string>> = {
  'console.js': '≤ 95 kB with the parts for its views',
  'console.css': '≤ 100 kB in all',
}

function ms(values: readonly number[]): string {
  return `${rounded(median(values))} ms`
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
