import type { Command } from 'commander'

/**
 * Refuses options that are given twice, in every command below this one: the parser would silently use the last, and a
 * key would be for one of the two tenants named. Options that collect their values have a parser of their own and may
 * be repeated; options without a value mean the same when they are repeated.
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
