import { armsOfOperands, armsOfOptions, quoted, steps, valueOptions } from './case-arms.ts'
import type { CompletableCommand, Values } from './completable.ts'

/**
 * A function for bash from 3.2 on, which macOS has; needs no other file. Where nothing of ours fits, bash completes names of files, and
 * nothing at all where the user writes a text.
 */
export function bashCompletion(program: string, commands: readonly CompletableCommand[]): string {
  return `# Completion of ${program} for bash. In ~/.bashrc: source <(${program} completion bash)
_property_events() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command='' word index=1
  # bash divides --feed=contact into three words.
  if [[ $current == '=' ]]; then current=''
  elif [[ $previous == '=' ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
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
  .map(({ pattern, values }) => `    ${pattern})\n      ${reply(values)}; return ;;`)
  .join('\n')}
  esac
  if [[ $current == -* ]]; then
    case "$command" in
${commands.map(({ words, options }) => `      ${quoted(words)}) ${reply(options.map(({ name }) => name))} ;;`).join('\n')}
    esac
    return
  fi
  case "$command" in
${commands
  .filter(({ below }) => below.length > 0)
  .map(({ words, below }) => `    ${quoted(words)}) ${reply(below.map(({ name }) => name))} ;;`)
  .join('\n')}
${armsOfOperands(commands)
  .map(({ pattern, values }) => `    ${pattern})\n      ${reply(values)} ;;`)
  .join('\n')}
  esac
}
complete -o default -F _property_events ${program}
`
}

function reply(values: Values): string {
  if (values === 'path') return ':'
  if (values === 'text') return 'compopt +o default 2>/dev/null'
  return `COMPREPLY=($(compgen -W ${quoted(values.join(' '))} -- "$current"))`
}
