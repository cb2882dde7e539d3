import { jsonText } from './terminal-text.ts'

/** Where a command writes. Results go to stdout; everything said on the way goes to stderr. */
export interface Output {
  /** `--json` was given: stdout is for machines. */
  readonly json: boolean
  /** A person looks at stderr: progress may be shown. */
  readonly showsProgress: boolean
  /** Writes to stdout as it is; resolves when more may be written. */
  write(text: string): Promise<void>
  /** One line of JSON to stdout. */
  writeJson(value: unknown): Promise<void>
  /** A line to stderr. */
  say(line: string): void
  /** Replaces the last progress line on the terminal; an empty one clears it. */
  progress(line: string): void
}

export function createOutput(options: { readonly json: boolean }): Output {
  let progressShown = false
  const write = (text: string) => writeAll(process.stdout, text)
  const showsProgress = process.stderr.isTTY
  return {
    json: options.json,
    showsProgress,
    write,
    writeJson: (value) => write(`${jsonText(value)}\n`),
    say(line) {
      if (progressShown) process.stderr.write('\r\u001b[K')
      progressShown = false
      process.stderr.write(`${line}\n`)
    },
    progress(line) {
      if (!showsProgress) return
      process.stderr.write(`\r\u001b[K${line}`)
      progressShown = line !== ''
    },
  }
}

/** A reader that went away (`| head`) ends the program without a word, as is usual. */
function writeAll(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error == null ? resolve() : reject(error)))
  })
}

export function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}
