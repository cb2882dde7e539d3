/**
 * The log lines of requests. While the store is away, requests answered with a server fault come in thousands. The first ones of each
 * second get a line each, and the others of that second share one line with the ids from their answers.
 */
import type { Logger } from 'pino'

interface RequestLine {
  readonly requestId: string
  readonly status: number
  /** Why the request was refused. */
  readonly problem?: string
  readonly [more: string]: unknown
}

export interface RequestLines {
  /** False: a line with this status would not be written, so it need not be built. */
  isWritten(status: number): boolean
  write(line: RequestLine): void
  /** Writes the collected lines. */
  close(): void
}

const faultsFrom = 500
/** Support staff who look for an id find it here. A second's line contains at most 10 kB of our ids. */
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
