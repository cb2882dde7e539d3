import { armsOfOperands, armsOfOptions, quoted, steps, valueOptions } from './case-arms.ts'
import type { CompletableCommand, Values } from './completable.ts'

/** A function for zsh, to be read by `source` after `compinit`, or as the file `_property-events` of a folder in `fpath`. */
export function zshCompletion(program: string, commands: readonly CompletableCommand[]): string {
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
  .map(({ pattern, values }) => `    (${pattern})\n      ${reply(values)}; return ;;`)
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
  .map(({ pattern, values }) => `    (${pattern})\n      ${reply(values)} ;;`)
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

function reply(values: Values): string {
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
