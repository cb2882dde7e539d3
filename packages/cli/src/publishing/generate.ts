import type { Command } from 'commander'
import { generate, generateProperties } from '@property-events/demo/generate'
import { addAction, flagNumber, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'

/** Lines are written in pieces of this many characters: one system call for some dozen lines. */
const pieceCharacters = 256 * 1024

export function addGenerate(program: Command, context: CommandContext): void {
  const command = program
    .command('generate')
    .description('print invented property events as NDJSON, ready for `publish -`')
    .option('--properties <number>', 'a nightly file: so many homes on the market, each as it is now')
    .option('--events <number>', 'a history: so many changes to homes, in order')
    .option('--seed <text>', 'same seed, same lines', '1')
    .option('--average-bytes <number>', 'mean length of a line, 400 to 16000 (default: about 4000)')
  addAction(command, context, async (invocation) => {
    const { output, settings: reader, flags } = invocation
    const range = { from: 0, to: 1e12 }
    const [properties, events] = [
      flagNumber(invocation, '--properties', range),
      flagNumber(invocation, '--events', range),
    ]
    if ((flags['properties'] === undefined) === (flags['events'] === undefined))
      reader.fault('Give --properties or --events, and not both.')
    const averageBytes = flagNumber(invocation, '--average-bytes', { from: 400, to: 16_000 })
    reader.finish()
    const seed = flagText(flags, 'seed') ?? '1'
    const options = { seed, ...(averageBytes === undefined ? {} : { averageBytes }) }
    const lines =
      properties === undefined
        ? generate({ events: events ?? 0, ...options })
        : generateProperties({ properties, ...options })
    let piece = ''
    for (const line of lines) {
      piece += `${line}\n`
      if (piece.length < pieceCharacters) continue
      await output.write(piece)
      piece = ''
    }
    if (piece !== '') await output.write(piece)
  })
}
