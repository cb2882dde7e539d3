/**
 * The log lines of requests. Those that were answered with a fault of ours come in thousands while the store is away: the first of a
 * second have a line each, and the others of that second one line together, with the ids that their answers told.
 */
import type { Logger } from 'pino'

export interface RequestLine {
  readonly requestId: string
  readonly status: number
  /** Why it was refused. */
  readonly problem?: string
  readonly [more: string]: unknown
}

export interface RequestLines {
  /** False: a line of this status would not be written, so it need not be made. */
  isWritten(status: number): boolean
  write(line: RequestLine): void
  /** Writes what is gathered. */
  close(): void
}

const faultsFrom = 500
/** A support that looks for an id finds it here; a second's line has 10 kB at most for ids of ours. */
const linesASecond = 10
const namedASecond = 250

export function requestLines(log: Logger): RequestLines {
  let written = 0
  let requestIds: string[] = []
  let problems: Record<string, number> = {}
  let count = 0
  let timer: NodeJS.Timeout | undefined

  const flush = (): void => {
    timer = undefined
    if (count > 0) {
      const unnamed = count - requestIds.length
      log.warn({ requests: count, problems, requestIds, ...(unnamed === 0 ? {} : { unnamed }) }, 'requests')
    }
    written = 0
    count = 0
    requestIds = []
    problems = {}
  }
  return {
    isWritten: (status) => log.isLevelEnabled(status < faultsFrom ? 'info' : 'warn'),
    write(line) {
      if (line.status < faultsFrom) {
        log.info(line, 'request')
        return
      }
      if (timer === undefined) {
        timer = setTimeout(flush, 1_000)
        timer.unref()
      }
      written += 1
      if (written <= linesASecond) log.warn(line, 'request')
      else {
        const { problem = 'none' } = line
        count += 1
        problems[problem] = (problems[problem] ?? 0) + 1
        if (requestIds.length < namedASecond) requestIds.push(line.requestId)
      }
    },
    close() {
      clearTimeout(timer)
      flush()
    },
  }
}
