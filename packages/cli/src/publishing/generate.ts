import type { Command } from 'commander'
import { generate } from '@property-events/demo/generate'
import { addAction, flagNumber, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'

/** Lines are written in pieces of this many characters: one system call for some dozen lines. */
const pieceCharacters = 256 * 1024

export function addGenerate(program: Command, context: CommandContext): void {
  const command = program
    .command('generate')
    .description('print made-up property events as NDJSON, fit for `publish -`')
    .requiredOption('--events <number>', 'how many')
    .option('--seed <text>', 'same seed, same events', '1')
    .option('--average-bytes <number>', 'mean length of a line, 400 to 16000 (default: about 4000)')
  addAction(command, context, async (invocation) => {
    const { output, settings: reader, flags } = invocation
    const events = flagNumber(invocation, '--events', { from: 0, to: 1e12 }) ?? 0
    const averageBytes = flagNumber(invocation, '--average-bytes', { from: 400, to: 16_000 })
    reader.finish()
    const seed = flagText(flags, 'seed') ?? '1'
    let piece = ''
    for (const line of generate({ events, seed, ...(averageBytes === undefined ? {} : { averageBytes }) })) {
      piece += `${line}\n`
      if (piece.length < pieceCharacters) continue
      await output.write(piece)
      piece = ''
    }
    if (piece !== '') await output.write(piece)
  })
}
