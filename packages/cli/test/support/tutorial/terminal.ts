/** A terminal that a document is followed in: a shell on a pseudo-terminal, as a person has it, by the program `script` of util-linux. */
import { spawn, spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'

/** Another `script`, or none: then nothing can be tried. */
export const hasTerminals = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

/** A first start downloads 80 MB. */
const waitMs = 300_000

export interface Terminal {
  /** Types the commands and waits for their end. Fails at the first that fails, with what was on the screen. */
  run(commands: string): Promise<string>
  /** Types the commands, the last of which stays, and waits until it shows what is expected. */
  runUntil(commands: string, expected: RegExp): Promise<string>
  /** Waits until what is running shows what is expected. */
  shows(expected: RegExp): Promise<string>
  /** Ends what is running as a person does, and waits for the end. */
  pressControlC(): Promise<void>
  close(): Promise<void>
}

export function openTerminal(folder: string, environment: NodeJS.ProcessEnv): Terminal {
  const child = spawn('script', ['-qfc', '/bin/sh', '/dev/null'], {
    cwd: folder,
    env: { ...environment, TERM: 'xterm', COLUMNS: '120' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let screen = ''
  let marks = 0
  const listeners = new Set<() => void>()
  const tell = (): void => {
    for (const listener of listeners) listener()
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
    tell()
  })
  let hasEnded = false
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => {
      hasEnded = true
      tell()
      resolve()
    })
  })
  // A prompt or an echo of what is typed would be taken for what a command shows.
  child.stdin.write("stty -echo; PS1=''; PS2=''; echo ready-$((1 + 1))\n")

  const shows = (expected: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const given = (): string => stripVTControlCharacters(screen).replaceAll('\r', '')
      const timer = setTimeout(
        () => finish(new Error(`"${expected.source}" was not shown:\n${given()}`)),
        waitMs,
      )
      const finish = (error?: Error): void => {
        clearTimeout(timer)
        listeners.delete(look)
        if (error === undefined) resolve(given())
        else reject(error)
      }
      const look = (): void => {
        if (expected.test(given())) finish()
        else if (hasEnded) finish(new Error(`The terminal has ended:\n${given()}`))
      }
      listeners.add(look)
      look()
    })
  const ready = shows(/ready-2/)

  const type = async (commands: string): Promise<void> => {
    await ready
    screen = ''
    child.stdin.write(commands.endsWith('\n') ? commands : `${commands}\n`)
  }

  const pressControlC = async (): Promise<void> => {
    await ready
    marks += 1
    child.stdin.write('\u0003')
    // A terminal drops what was typed before Ctrl-C took effect.
    const typing = setInterval(() => child.stdin.write(`echo; echo end-$((${marks} + 0))-\n`), 200)
    await shows(new RegExp(`^end-${marks}-$`, 'm')).finally(() => clearInterval(typing))
  }

  return {
    shows,
    async run(commands) {
      marks += 1
      await type(`set -e\n${commands.trimEnd()}\nset +e; echo; echo end-$((${marks} + 0))-\n`)
      return shows(new RegExp(`^end-${marks}-$`, 'm'))
    },
    async runUntil(commands, expected) {
      await type(commands)
      return shows(expected)
    },
    pressControlC,
    async close() {
      if (!hasEnded) await pressControlC()
      child.stdin.end('exit\n')
      await ended
    },
  }
}
