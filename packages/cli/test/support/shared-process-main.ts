/**
 * Runs the commands that it is sent, one after another, each as if it had the process to itself: with variables, a folder, standard input and
 * listeners of its own. A command is over when a process of its own would end: when nothing is left to wait for.
 */
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { SharedCommand } from './shared-process.ts'

// The program prints the path of the script that was started.
process.argv[1] = fileURLToPath(new URL('../../bin/property-events.mjs', import.meta.url))
const program = import('../../src/main.ts')

/** What Node ends with where nothing is left to wait for and the program waits all the same. */
const unsettled = 13
const events = ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const

let mark = ''
let code = unsettled
let before = new Map<string, readonly unknown[]>()

process.on('message', (command: SharedCommand) => void runCommand(command))
process.on('disconnect', () => process.exit())
process.on('beforeExit', endCommand)

async function runCommand({ args, environment, input, cwd, ...rest }: SharedCommand): Promise<void> {
  mark = rest.mark
  code = unsettled
  // What waits for the next command does not keep this one going.
  process.channel?.unref()
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
  process.chdir(cwd)
  const stdin = new PassThrough()
  stdin.end(input)
  Object.defineProperty(process, 'stdin', { value: stdin, configurable: true })
  before = new Map(events.map((event) => [event, process.rawListeners(event)]))
  const { main } = await program
  code = await main(args, process.env)
}

function endCommand(): void {
  for (const event of events) {
    const known = before.get(event) ?? []
    for (const listener of process.rawListeners(event).filter((each) => !known.includes(each))) {
      if (event === 'exit') listener.call(process, code)
      process.off(event, listener)
    }
  }
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error')
  process.stdout.write(mark)
  process.stderr.write(`${mark}[${code}]`)
  process.channel?.ref()
}
