/** The help: groups, examples that the program takes, lines no longer than the terminal, colours only where there are some. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import type { Command } from 'commander'
import { commandsOf, examples } from '../../src/help/examples.ts'
import { buildProgram } from '../../src/main.ts'
import { columnsOf, hasColours } from '../../src/terminal-style.ts'
import { blocksIn, documents, textOf } from '../support/documents.ts'
import { run } from '../support/program.ts'

const build = (name?: string): Promise<Command> =>
  buildProgram({ environment: {}, failed: () => undefined }, name)

/** As a shell divides a line whose only quotation marks are double ones. */
function wordsIn(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')
}

/** The commands of ours in a document's blocks: from the name of the program to where the shell goes on. */
function commandsIn(document: string): readonly string[] {
  const shells = blocksIn(document, textOf(document)).filter(({ language }) => /^(?:sh|text)$/.test(language))
  const lines = shells.flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, ' ').split('\n'))
  return lines.flatMap((line) => {
    const [, words = ''] =
      /(?:^|npx |-- |\| |&& |feed |PROPERTY_EVENTS_\w+=\S+ )property-events ([a-z].*)$/.exec(line) ?? []
    const command = words
      .replace(/\s+(?:\||>|<|&&|#|2>).*$/, '')
      .replace(/["')]*$/, (end) => (end === '"' ? end : ''))
    return words === '' ? [] : [command]
  })
}

/** Reads the line and runs nothing. */
async function parse(line: string): Promise<string> {
  const program = await build()
  let ran = ''
  for (const { words, command } of commandsOf(program)) {
    command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined })
    if (command.commands.length === 0) command.action(() => void (ran = words))
  }
  await program.parseAsync(wordsIn(line), { from: 'user' })
  return ran
}

describe('the examples of the help', () => {
  it('exist for every command that does something, and for none that was removed', async () => {
    const commands = commandsOf(await build())
    const acting = commands.filter(({ command }) => command.commands.length === 0).map(({ words }) => words)
    assert.ok(acting.length > 40)
    const lacking = acting.filter((words) => (examples[words] ?? []).length === 0)
    assert.deepEqual(lacking, [], 'add them to src/help/examples.ts')
    const known = new Set(commands.map(({ words }) => words))
    assert.deepEqual(
      Object.keys(examples).filter((words) => !known.has(words)),
      [],
    )
  })

  it('are lines that the program accepts, each for its own command', async () => {
    for (const [words, list] of Object.entries(examples)) {
      for (const [, line] of list) {
        if (line.startsWith('help ')) continue
        const ran = await parse(line)
        if (words !== '') assert.equal(ran, words, line)
      }
    }
    await assert.rejects(parse('sync ./properties --folow'), /unknown option/)
  })
})

describe('the commands in the documents', () => {
  it('are lines that the program accepts, run by a test or not', async () => {
    const lines = documents.flatMap((document) =>
      commandsIn(document).map((line) => [document, line] as const),
    )
    assert.ok(lines.length > 100)
    for (const [document, line] of lines) {
      await assert.doesNotReject(parse(line), `${document}: property-events ${line}`)
    }
  })
})

describe('the help', () => {
  it('lists every command in a group that has a name', async () => {
    const program = await build()
    const help = program.helpInformation()
    assert.doesNotMatch(help, /^Commands:$/m)
    for (const command of program.commands) assert.match(help, new RegExp(`^  ${command.name()}\\b`, 'm'))
    assert.match(help, /^Read:\n {2}events /m)
  })

  for (const columns of [48, 60, 80, 120]) {
    it(`of every command has no line longer than a terminal of ${columns}, except lines to copy`, async () => {
      for (const { words, command } of commandsOf(await build())) {
        let text = ''
        command.configureOutput({
          getOutHelpWidth: () => columns,
          getOutHasColors: () => false,
          writeOut: (part) => void (text += part),
        })
        command.outputHelp()
        const [explained = ''] = text.split('\nExamples:\n')
        assert.equal(text, stripVTControlCharacters(text))
        const long = explained
          .split('\n')
          .filter((line) => line.length > columns && /\S\s+\S/.test(line) && !line.startsWith('Usage:'))
          // A word alone, such as the name of a variable, cannot be divided.
          .filter((line) => line.trim().split(/\s+/).length > 2)
        assert.deepEqual(long, [], `${words} at ${columns}`)
      }
    })
  }

  it('is plain in a pipe, coloured if forced, and plain again with NO_COLOR', async () => {
    const help = async (environment: Readonly<Record<string, string>>) =>
      (await run(['sync', '--help'], { environment })).stdout
    const plain = await help({})
    assert.equal(plain, stripVTControlCharacters(plain))
    const coloured = await help({ FORCE_COLOR: '1' })
    assert.notEqual(coloured, plain)
    assert.equal(stripVTControlCharacters(coloured), plain)
    assert.equal(await help({ FORCE_COLOR: '1', NO_COLOR: '1' }), plain)
    assert.equal(await help({ FORCE_COLOR: '0' }), plain)
  })
})

describe('a command line that names a command', () => {
  const namesOf = async (name?: string) => (await build(name)).commands.map((command) => command.name())

  it('loads this one alone, under the name it has in the help', async () => {
    const all = await namesOf()
    assert.ok(all.length > 20)
    for (const name of all) {
      assert.deepEqual(await namesOf(name), name === 'completion' ? all : [name])
    }
  })

  it('lists all others on request: without a name, with an unknown one, and with help', async () => {
    const all = await namesOf()
    for (const first of ['help', '--help', 'tenant', 'constructor', '']) {
      assert.deepEqual(await namesOf(first), all, first)
    }
  })
})

describe('a terminal', () => {
  it('has colours where it says so, unless NO_COLOR is set', () => {
    const terminal = { isTTY: true, hasColors: () => true }
    assert.equal(hasColours(terminal, {}), true)
    assert.equal(hasColours({ isTTY: true, hasColors: () => false }, {}), false)
    assert.equal(hasColours({}, {}), false)
    assert.equal(hasColours(terminal, { NO_COLOR: '1' }), false)
    // As https://no-color.org has it: an empty one does not count.
    assert.equal(hasColours(terminal, { NO_COLOR: '' }), true)
    assert.equal(hasColours({}, { FORCE_COLOR: '1' }), true)
  })

  it('is written to up to its width, and to 120 columns at most', () => {
    assert.deepEqual(
      [{}, { isTTY: true, columns: 0 }, { isTTY: true, columns: 66 }, { isTTY: true, columns: 300 }].map(
        columnsOf,
      ),
      [80, 80, 66, 120],
    )
  })
})
