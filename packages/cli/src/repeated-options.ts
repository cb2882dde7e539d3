import type { Command } from 'commander'

/**
 * Refuses options that are given twice, in every command below this one: the parser would take the last without a word, and
 * a key would be for one tenant of the two that were named. Options that gather their values have a parser of their own and
 * take any number; those without a value say the same when they stand there twice.
 */
export function refuseRepeatedOptions(program: Command): void {
  for (const command of program.commands) {
    refuseRepeatedOptions(command)
    for (const option of command.options) {
      if (option.isBoolean() || option.variadic || option.parseArg !== undefined) continue
      let given = 0
      command.on(`option:${option.name()}`, () => {
        given += 1
        if (given < 2) return
        const name = option.long ?? option.flags
        command.error(
          `error: ${name} is given twice, and only one could count. Give it once; for several, run the command once for each.`,
        )
      })
    }
  }
}
