import { armsOfOperands, armsOfOptions, quoted, steps, valueOptions } from './case-arms.ts'
import type { CompletableCommand, Values } from './completable.ts'

/**
 * A function for bash. It uses nothing that bash 3.2, the version of macOS, lacks; the tests run it only in 5.2. It needs no other file.
 * If nothing of ours fits, bash completes names of files, and nothing at all if the user writes a text.
 */
export function bashCompletion(program: string, commands: readonly CompletableCommand[]): string {
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
  return `COMPREPLY=($(compgen -W ${quoted(values.join(' '))} -- "$current")); COMPREPLY=("\${COMPREPLY[@]#"$before"}")`
}
