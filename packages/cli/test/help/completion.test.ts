/** What shells complete, asked of the shells themselves. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { scopes } from '@property-events/protocol'
import { removeFolder, run, temporaryFolder } from '../support/program.ts'

const execute = promisify(execFile)
const folder = temporaryFolder()
after(() => removeFolder(folder))
before(async () => {
  for (const shell of ['bash', 'zsh']) {
    const { code, stdout } = await run(['completion', shell])
    assert.equal(code, 0)
    writeFileSync(join(folder, `completion.${shell}`), stdout)
  }
  mkdirSync(join(folder, 'files/data folder'), { recursive: true })
  writeFileSync(join(folder, 'files/listings.ndjson'), '')
})

/** A line up to the cursor, and what is offered for its last word. `path`: names of files are, by the shell itself. */
type Case = readonly [line: string, offered: readonly string[] | 'path' | 'nothing', also?: 'among others']

const cases: readonly Case[] = [
  ['property-events ser', ['serve']],
  ['property-events ke', ['keys']],
  ['property-events help mig', ['migrate']],
  ['property-events keys ', ['create', 'list', 'revoke', 'expire', 'rate', 'rotate', 'usage', 'expect']],
  ['property-events keys cr', ['create']],
  ['property-events keys create --ten', ['--tenant']],
  ['property-events keys create --scope p', scopes.filter((scope) => scope.startsWith('p')), 'among others'],
  ['property-events --debug events tail --feed ', ['property', 'contact']],
  ['property-events events tail --feed=c', ['contact']],
  ['property-events keys create --scope contact:r', ['contact:read']],
  ['property-events serve --log-level w', ['warn']],
  ['property-events completion ', ['bash', 'zsh']],
  // The name of a tenant, and not a command.
  ['property-events keys create --tenant keys --la', ['--label']],
  ['property-events tenants create ', 'nothing'],
  ['property-events publish ', 'path'],
  ['property-events sync ./properties --results ', 'path'],
  ['property-events serve --data ', 'path'],
]

function check([line, offered, also]: Case, found: readonly string[]): void {
  if (offered === 'nothing') assert.deepEqual(found, [], line)
  else if (also === 'among others')
    for (const one of offered) assert.ok(found.includes(one), `${line}: ${one}`)
  else if (offered !== 'path') assert.deepEqual(found.toSorted(), offered.toSorted(), line)
}

/** The shell as a user has it: the words of a line as readline divides them, then what the function leaves. */
const askBash = `
source "$1"
line="$2"
COMP_LINE="$line" COMP_POINT=\${#line}
# As readline does: = and : divide words.
words=\${line//=/ = }
words=\${words//:/ : }
eval "COMP_WORDS=($words)"
[[ "$line" == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
compopt() { echo compopt; }
_property_events
printf '%s\\n' "\${COMPREPLY[@]}"
`

describe('completion in bash', () => {
  it('is a script that bash accepts, and that names the program it is for', async () => {
    await execute('bash', ['-n', join(folder, 'completion.bash')])
    const { stdout } = await execute('bash', [
      '-c',
      `source ${join(folder, 'completion.bash')}; complete -p property-events`,
    ])
    assert.equal(stdout, 'complete -o default -F _property_events property-events\n')
  })

  it('offers commands, options and values, and names of files where a file goes', async () => {
    for (const one of cases) {
      const [line, offered] = one
      const { stdout } = await execute('bash', ['-c', askBash, 'bash', join(folder, 'completion.bash'), line])
      const found = stdout.split('\n').filter((word) => word !== '' && word !== 'compopt')
      // What stands before a colon is there already.
      const [before = ''] = /[^ ]*:(?=[^ :]*$)/.exec(line) ?? []
      check(
        one,
        found.map((word) => before + word),
      )
      // With nothing to offer bash completes files, unless the function has turned that off.
      if (offered === 'path') assert.deepEqual([found, stdout.includes('compopt')], [[], false], line)
      if (offered === 'nothing') assert.ok(stdout.includes('compopt'), line)
    }
  })

  it('refuses a shell that it has nothing for, and says which there are', async () => {
    const { code, stderr } = await run(['completion', 'fish'])
    assert.deepEqual([code, stderr], [1, 'There is no completion for "fish", only for bash and zsh.\n'])
  })
})

const needsZsh = spawnSync('zsh', ['--version']).status === 0 ? false : 'zsh is not installed'

/** An interactive zsh on a terminal of its own, as its own tests do it; the offers are listed below the line. */
const askZsh = String.raw`
zmodload zsh/zpty
zpty asked zsh -f -i
send() { zpty -w -n asked "$1" }
awaiting() {
  local text part
  local -i tries=0
  while (( tries++ < 600 )); do
    if zpty -r -t asked part; then text+="$part"; [[ "$text" == *"$1"* ]] && break; else sleep 0.05; fi
  done
  print -r -- "$text"
}
send $'PROMPT=; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -D -u; setopt no_list_beep; zstyle ":completion:*" list-colors ""; LISTMAX=0\n'
send $'compadd() { if [[ "$*" == *-O* || "$*" == *-A* || "$*" == *-D* ]]; then builtin compadd "$@"; return; fi; local -a offered; builtin compadd -O offered "$@"; print -rl -- "offer:"$^offered; builtin compadd "$@" }\n'
send $'told() { print -r -- offers""-told }; comppostfuncs=(told)\n'
send "cd $2; source $1; print -r -- rea''dy"$'\n'
awaiting ready >/dev/null
send "$3"$'\t'
# What is typed meanwhile would make the tab an ordinary one.
awaiting offers-told
send $'\x15print -r -- do""ne\n'
awaiting done
`

describe('completion in zsh', { skip: needsZsh }, () => {
  it('is a script that zsh accepts', async () => {
    await execute('zsh', ['-n', join(folder, 'completion.zsh')])
  })

  it('offers commands, options and values, and names of files where a file goes', async () => {
    for (const one of cases) {
      const [line, offered] = one
      if (line.includes('=')) continue
      const args = ['-f', '-c', askZsh, 'zsh', join(folder, 'completion.zsh'), join(folder, 'files'), line]
      const { stdout } = await execute('zsh', args)
      const found = [...stdout.matchAll(/offer:([^\r\n]+)/g)].map(([, word = '']) => word)
      if (offered === 'path')
        assert.ok(
          found.some((name) => /listings|data/.test(name)),
          `${line}: ${stdout}`,
        )
      else check(one, [...new Set(found)])
    }
  })
})
