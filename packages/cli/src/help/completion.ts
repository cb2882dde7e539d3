/** Prints a script with which a shell completes commands, options and their values. */
import type { Argument, Command, Option } from 'commander'
import { categories, erasureReasons, feedNames, holdGrounds, scopes } from '@property-events/protocol'
import { addAction } from '../command-context.ts'
import type { CommandContext } from '../command-context.ts'
import { Refusal } from '../refusal.ts'
import { plainText } from '../terminal-text.ts'
import { addNote } from './help-text.ts'
import { commandsOf } from './examples.ts'

const scripts = { bash: bashCompletion, zsh: zshCompletion } as const

export function addCompletion(program: Command, context: CommandContext): void {
  const command = program
    .command('completion')
    .description('print a script that completes commands, options and values in bash or zsh')
    .argument('<shell>', 'bash or zsh')
  addNote(
    command,
    'The shell completes the program by its name, so `property-events` must be on the PATH; a command line that begins ' +
      'with npx is not completed. If starting the program in each new shell is too slow, write the script to a file.',
  )
  addAction(command, context, async ({ output }, [shell = '']) => {
    if (shell !== 'bash' && shell !== 'zsh') {
      throw new Refusal(
        `There is no completion for "${plainText(shell.slice(0, 40))}", only for bash and zsh.`,
      )
    }
    const script = scripts[shell](program.name(), completable(program))
    return output.json ? output.writeJson({ shell, script }) : output.write(script)
  })
}

/**
 * A function for bash. It uses nothing that bash 3.2, the version of macOS, lacks; the tests run it only in 5.2. It needs no other file.
 * If nothing of ours fits, bash completes names of files, and nothing at all if the user writes a text.
 */
function bashCompletion(program: string, commands: readonly CompletableCommand[]): string {
  return `# Completion of ${program} for bash. In ~/.bashrc: source <(${program} completion bash)
_property_events() {
  local line="\${COMP_LINE:0:COMP_POINT}" command='' word index=1 at=$COMP_CWORD
  local current="\${line##* }" previous before
  # bash divides --feed=contact and contact:read into three words, and replaces the last of them.
  while ((at > 1)) && [[ \${COMP_WORDS[at]} == [:=] || \${COMP_WORDS[at-1]} == [:=] ]]; do at=$((at - 1)); done
  previous="\${COMP_WORDS[at-1]}"
  if [[ $current == -*=* ]]; then
    previous="\${current%%=*}"
    current="\${current#*=}"
  fi
  before="\${current%"\${current##*:}"}"
  while ((index < COMP_CWORD)); do
    word="\${COMP_WORDS[index]}"
    case "$command:$word" in
      ${valueOptions(commands)})
        index=$((index + 1))
        [[ \${COMP_WORDS[index]} == '=' ]] && index=$((index + 1)) ;;
      ${steps(commands)})
        command="\${command:+$command }$word" ;;
    esac
    index=$((index + 1))
  done
  COMPREPLY=()
  case "$command:$previous" in
${armsOfOptions(commands)
  .map(({ pattern, values }) => `    ${pattern})\n      ${bashReply(values)}; return ;;`)
  .join('\n')}
  esac
  if [[ $current == -* ]]; then
    case "$command" in
${commands.map(({ words, options }) => `      ${quoted(words)}) ${bashReply(options.map(({ name }) => name))} ;;`).join('\n')}
    esac
    return
  fi
  case "$command" in
${commands
  .filter(({ below }) => below.length > 0)
  .map(({ words, below }) => `    ${quoted(words)}) ${bashReply(below.map(({ name }) => name))} ;;`)
  .join('\n')}
${armsOfOperands(commands)
  .map(({ pattern, values }) => `    ${pattern})\n      ${bashReply(values)} ;;`)
  .join('\n')}
  esac
}
complete -o default -F _property_events ${program}
`
}

function bashReply(values: Values): string {
  if (values === 'path') return ':'
  if (values === 'text') return 'compopt +o default 2>/dev/null'
  return `COMPREPLY=($(compgen -W ${quoted(values.join(' '))} -- "$current")); COMPREPLY=("\${COMPREPLY[@]#"$before"}")`
}

/** A function for zsh, to be read by `source` after `compinit`, or as the file `_property-events` of a folder in `fpath`. */
function zshCompletion(program: string, commands: readonly CompletableCommand[]): string {
  return `#compdef ${program}
# Completion of ${program} for zsh. In ~/.zshrc, after compinit: source <(${program} completion zsh)
_property_events() {
  local command='' word
  local -i index=2
  local -a found
  while (( index < CURRENT )); do
    word="\${words[index]}"
    case "$command:$word" in
      (${valueOptions(commands)})
        (( index += 1 )) ;;
      (${steps(commands)})
        command="\${command:+$command }$word" ;;
    esac
    (( index += 1 ))
  done
  case "$command:\${words[CURRENT-1]}" in
${armsOfOptions(commands)
  .map(({ pattern, values }) => `    (${pattern})\n      ${zshReply(values)}; return ;;`)
  .join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    case "$command" in
${commands.map(({ words, options }) => `      (${quoted(words)}) found=(${described(options)}) ;;`).join('\n')}
    esac
    _describe -o option found
    return
  fi
  case "$command" in
${commands
  .filter(({ below }) => below.length > 0)
  .map(({ words, below }) => `    (${quoted(words)}) found=(${described(below)}); _describe command found ;;`)
  .join('\n')}
${armsOfOperands(commands)
  .map(({ pattern, values }) => `    (${pattern})\n      ${zshReply(values)} ;;`)
  .join('\n')}
  esac
}
if [[ "\${funcstack[1]}" == _property_events || "\${funcstack[1]}" == _${program} ]]; then
  _property_events "$@"
else
  compdef _property_events ${program}
fi
`
}

function zshReply(values: Values): string {
  if (values === 'path') return '_files'
  if (values === 'text') return "_message 'a text'"
  return `compadd -- ${values.map((value) => quoted(value)).join(' ')}`
}

/** `name:description`, as `_describe` takes them. */
function described(items: readonly { readonly name: string; readonly description: string }[]): string {
  return items
    .map(({ name, description }) => quoted(`${name.replaceAll(':', String.raw`\:`)}:${description}`))
    .join(' ')
}

/** What is allowed in a context: one of some words, a path, or a text of the user's own. */
type Values = readonly string[] | 'path' | 'text'

interface CompletableOption {
  /** With its dashes. */
  readonly name: string
  readonly description: string
  /** `undefined`: the option has no value. */
  readonly values: Values | undefined
}

interface CompletableCommand {
  /** After the program's name, such as `keys create`; the program itself has none. */
  readonly words: string
  readonly below: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly CompletableOption[]
  /** What its operands are. */
  readonly operands: Values
}

/** Placeholders of the help whose values are known. */
const valuesOf: Readonly<Record<string, Values>> = {
  feed: feedNames,
  type: ['property', 'salesproperty', 'lettingsproperty'],
  scopes: [...scopes, 'read', 'publish'],
  channel: categories,
  reason: erasureReasons,
  ground: holdGrounds,
  shell: ['bash', 'zsh'],
  file: 'path',
  folder: 'path',
  store: 'path',
  target: 'path',
}

/** Every command of the program, `help` included. */
function completable(program: Command): readonly CompletableCommand[] {
  const commands = commandsOf(program).map(({ words, command }) => ({
    words,
    below: belowOf(command, words),
    options: optionsOf(command),
    operands: operandsOf(command.registeredArguments),
  }))
  const names = program.commands.map((command) => command.name())
  return [...commands, { words: 'help', below: [], options: [], operands: names }]
}

function belowOf(command: Command, words: string): CompletableCommand['below'] {
  const below = command.commands.map((one) => ({ name: one.name(), description: one.description() }))
  return words === '' ? [...below, { name: 'help', description: 'print the help of a command' }] : below
}

function optionsOf(command: Command): readonly CompletableOption[] {
  const help = { name: '--help', description: 'print this help', values: undefined }
  const own = command.options
    .filter(({ hidden, long }) => !hidden && long !== undefined)
    .map((option) => ({ name: option.long ?? '', description: option.description, values: valueOf(option) }))
  return [...own, help]
}

/** `--feed <feed>` has a placeholder, `--log-level <info|warn>` its words. */
function valueOf(option: Option): Values | undefined {
  if (option.isBoolean()) return undefined
  const placeholder = /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1] ?? ''
  const known = valuesOf[placeholder]
  if (known !== undefined) return known
  const words = placeholder.split('|')
  if (words.length === 1) return 'text'
  const fixed = words.filter((word) => /^[a-z0-9-]+$/.test(word) && valuesOf[word] === undefined)
  return fixed.length === 0 ? 'text' : fixed
}

function operandsOf([first]: readonly Argument[]): Values {
  return first === undefined ? 'text' : (valuesOf[first.name()] ?? 'text')
}

/** A word in single quotes, which both shells accept. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** `'keys create:--scope'|…` for all options that take a value, so that what follows is not taken for a command. */
function valueOptions(commands: readonly CompletableCommand[]): string {
  return commands
    .flatMap(contextsOf)
    .map(({ context }) => quoted(context))
    .join('|')
}

/** `':keys'|'keys:create'|…`: what continues a command. */
function steps(commands: readonly CompletableCommand[]): string {
  return commands.flatMap(({ words, below }) => below.map(({ name }) => quoted(`${words}:${name}`))).join('|')
}

interface Arm {
  readonly pattern: string
  readonly values: Values
}

/** The values that may follow each option: contexts with the same values share an arm. */
function armsOfOptions(commands: readonly CompletableCommand[]): readonly Arm[] {
  return armsOf(commands.flatMap(contextsOf))
}

/** The possible operands of commands without subcommands. */
function armsOfOperands(commands: readonly CompletableCommand[]): readonly Arm[] {
  return armsOf(
    commands
      .filter(({ below }) => below.length === 0)
      .map(({ words, operands }) => ({ context: words, values: operands })),
  )
}

interface ValueContext {
  readonly context: string
  readonly values: Values
}

function contextsOf({ words, options }: CompletableCommand): readonly ValueContext[] {
  return options.flatMap(({ name, values }) =>
    values === undefined ? [] : [{ context: `${words}:${name}`, values }],
  )
}

function armsOf(contexts: readonly ValueContext[]): readonly Arm[] {
  const groups = Map.groupBy(contexts, ({ values }) => JSON.stringify(values))
  return [...groups.values()].map((group) => ({
    pattern: group.map(({ context }) => quoted(context)).join('|'),
    values: group[0]?.values ?? 'text',
  }))
}
