import type { Command } from 'commander'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { generate } from '../market/generate.ts'
import type { SettingReader } from '../read-settings.ts'
import { plainText } from '../terminal-text.ts'

/** Lines are written in pieces of this many characters: one system call for some dozen lines. */
const pieceCharacters = 256 * 1024

export function addGenerate(program: Command, context: CommandContext): void {
  const command = program
    .command('generate')
    .description('print made-up property events as NDJSON, fit for `publish -`')
    .requiredOption('--events <number>', 'how many')
    .option('--seed <text>', 'same seed, same events', '1')
    .option('--average-bytes <number>', 'mean length of a line, 400 to 16000 (default: about 4000)')
  addAction(command, context, async ({ output, settings: reader, flags }) => {
    const events = readNumber(flags, 'events', '--events', 0, 1e12, reader) ?? 0
    const averageBytes = readNumber(flags, 'averageBytes', '--average-bytes', 400, 16_000, reader)
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

function readNumber(
  flags: Readonly<Record<string, unknown>>,
  name: string,
  flag: string,
  from: number,
  to: number,
  reader: SettingReader,
): number | undefined {
  const written = flagText(flags, name)
  if (written === undefined) return undefined
  const value = Number(written)
  if (/^(0|[1-9][0-9]{0,15})$/.test(written) && value >= from && value <= to) return value
  reader.fault(`${flag} is "${plainText(written)}", but must be a whole number from ${from} to ${to}.`)
  return undefined
}
