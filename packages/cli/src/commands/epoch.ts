import type { Command } from 'commander'
import { addAction, flagText } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { storeSettings, withStore } from '../open-store.ts'
import { addSettings } from '../read-settings.ts'
import { plainText } from '../terminal-text.ts'

export function addEpoch(program: Command, context: CommandContext): void {
  const epoch = program.command('epoch').description('carry sequence numbers on after a restore')
  const command = epoch
    .command('start')
    .description('begin a new epoch in every feed')
    .requiredOption('--continue-after <number>', 'the highest sequence number that anybody was ever shown')
    .addHelpText(
      'after',
      '\nConsumers keep the highest number per property: numbers that come back would be ignored.',
    )
  addSettings(command, storeSettings)
  addAction(command, context, async ({ output, settings: reader, flags }) => {
    const written = flagText(flags, 'continueAfter') ?? ''
    const continueAfter = Number(written)
    if (!/^(0|[1-9][0-9]{0,15})$/.test(written) || continueAfter > 2 ** 52) {
      reader.fault(
        `--continue-after is "${plainText(written)}", but must be a whole number from 0 to ${2 ** 52}.`,
      )
    }
    await withStore(reader, flags, async ({ storage }) => {
      await storage.startEpoch(continueAfter)
      if (output.json) return output.writeJson({ continueAfter })
      return output.write(
        `A new epoch has begun: the next number of every feed is greater than ${continueAfter}.\n`,
      )
    })
  })
}
