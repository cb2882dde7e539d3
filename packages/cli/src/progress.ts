import type { Output } from './output.ts'

/** A terminal is refreshed four times a second: more is flicker. */
const refreshMs = 250

/** Shows the progress and the speed of a long task, if stderr is a terminal. */
export interface Progress {
  /** `part` of the whole, 0 to 1, where it is known. */
  update(done: number, part: number | undefined): void
  end(): void
}

export function createProgress(output: Output, what: string, clock: () => number = Date.now): Progress {
  const startMs = clock()
  let shownMs = 0
  return {
    update(done, part) {
      const nowMs = clock()
      if (!output.showsProgress || nowMs - shownMs < refreshMs) return
      shownMs = nowMs
      const perSecond = Math.round((done * 1000) / Math.max(1, nowMs - startMs))
      const share = part === undefined ? '' : ` · ${Math.floor(Math.min(1, part) * 100)} %`
      output.progress(
        `${done.toLocaleString('en-GB')} ${what} · ${perSecond.toLocaleString('en-GB')}/s${share}`,
      )
    },
    end() {
      output.progress('')
    },
  }
}
