/** The name to call the program by here: the commands it prints are pasted into a shell, which has to find it. */
import { basename, delimiter, dirname } from 'node:path'
import type { Environment } from './settings/setting.ts'
import { shellWord } from './terminal-text.ts'

const name = 'property-events'

/** `npx property-events` below npm, its bare name if PATH leads to it, otherwise the path of the script that was started. */
export function programNameOf(script: string, environment: Environment): string {
  if (environment['npm_command'] !== undefined) return `npx ${name}`
  const isOnPath = (environment['PATH'] ?? '').split(delimiter).includes(dirname(script))
  return isOnPath && basename(script) === name ? name : shellWord(script)
}

const programName = programNameOf(process.argv[1] ?? name, process.env)

/** A command line of this program for people to copy, such as `keys list`, with the flags that find its store. */
export function commandLine(words: string, store = ''): string {
  return `${programName} ${words}${store}`
}

/** The command that lets a restored store publish again. */
export function epochCommand(store: string): string {
  return commandLine('epoch start --continue-after N', store)
}

/** The placeholder of N in it. */
export const epochNumber = 'N is the highest sequence number that any consumer has received'
