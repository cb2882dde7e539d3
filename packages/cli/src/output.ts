import type { LogForm } from '@property-events/server'
import type { Environment } from './settings/setting.ts'
import { columnsOf, hasColours, lineWidthOf, styleOf } from './terminal-style.ts'
import type { Style } from './terminal-style.ts'
import { jsonText } from './terminal-text.ts'

/** Where a command writes. Results go to stdout; messages on the way go to stderr. */
export interface Output {
  /** `--json` was given: stdout is for machines. */
  readonly json: boolean
  /** stderr is a terminal: progress may be shown. */
  readonly showsProgress: boolean
  /** How log lines are written to stderr: for a person only on a terminal, whatever colours are requested. */
  readonly logForm: LogForm
  /** Colours of stdout, if it has them. */
  readonly style: Style
  /** Characters that fit into a line of stdout; `undefined` if it is not a terminal. The terminal may be resized meanwhile. */
  readonly columns: number | undefined
  /**
   * Writes to stdout as it is; resolves when more may be written, rejects with `OutputClosed` when the reader has gone.
   */
  write(text: string): Promise<void>
  /** One line of JSON to stdout. */
  writeJson(value: unknown): Promise<void>
  /** A line to stderr. */
  say(line: string): void
  /** Replaces the last progress line on the terminal; an empty one clears it. */
  progress(line: string): void
}

export function createOutput(options: { readonly json: boolean; readonly environment: Environment }): Output {
  let progressShown = false
  const write = (text: string) => writeAll(process.stdout, text)
  const showsProgress = process.stderr.isTTY
  return {
    json: options.json,
    showsProgress,
    logForm: logFormOf(options),
    style: styleOf(hasColours(process.stdout, options.environment)),
    get columns() {
      return lineWidthOf(process.stdout)
    },
    write,
    writeJson: (value) => write(`${jsonText(value)}\n`),
    say(line) {
      if (progressShown) process.stderr.write('\r\u001b[K')
      progressShown = false
      process.stderr.write(`${line}\n`)
    },
    progress(line) {
      if (!showsProgress) return
      // A line that the terminal would break could not be replaced.
      process.stderr.write(`\r\u001b[K${line.slice(0, columnsOf(process.stderr) - 1)}`)
      progressShown = line !== ''
    },
  }
}

function logFormOf({
  json,
  environment,
}: {
  readonly json: boolean
  readonly environment: Environment
}): LogForm {
  if (json || !process.stderr.isTTY) return 'json'
  return hasColours(process.stderr, environment) ? 'coloured' : 'plain'
}

/**
 * The same for a command that continues when the reader of its output has gone, such as a service that announces
 * itself.
 */
export function withoutReader(output: Output): Output {
  const unlessClosed = async (written: Promise<void>): Promise<void> => {
    try {
      await written
    } catch (error) {
      if (!(error instanceof OutputClosed)) throw error
    }
  }
  return {
    ...output,
    write: (text) => unlessClosed(output.write(text)),
    writeJson: (value) => unlessClosed(output.writeJson(value)),
  }
}

/**
 * The reader of stdout has gone (`| head`). The command ends silently, as is usual, with the exit code it has by then:
 * a command sets its exit code before it writes.
 */
export class OutputClosed extends Error {
  override readonly name = 'OutputCut'
}

function writeAll(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error == null) resolve()
      else if ('code' in error && error.code === 'EPIPE') reject(new OutputClosed())
      else reject(error)
    })
  })
}
