/**
 * Writes the template for translations of the plugin for WordPress: every text in a call of `__`, `_n` and their like.
 *
 *     npm run wordpress-pot
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './compile.ts'
import { pluginFiles } from './wordpress-zip.ts'

const target = join(root, 'examples/wordpress/property-events/languages/property-events.pot')
const text = String.raw`'((?:[^'\\]|\\.)*)'`
const calls = new RegExp(
  String.raw`\b(?:(?:esc_html_|esc_attr_)?_[_e]\(\s*${text}|_n\(\s*${text}\s*,\s*${text})`,
  'g',
)

export interface Source {
  readonly path: string
  readonly text: string
}

/** The template of these files, the same bytes for the same texts. */
export function templateOf(files: readonly Source[]): string {
  const places = new Map<string, { readonly plural: string | undefined; readonly files: Set<string> }>()
  for (const { path, text: source } of files) {
    if (!path.endsWith('.php') || path.includes('/lib/')) continue
    for (const [, single, one, many] of source.matchAll(calls)) {
      const message = single ?? one ?? ''
      const known = places.get(message) ?? { plural: many, files: new Set<string>() }
      known.files.add(path.slice(path.indexOf('/') + 1))
      places.set(message, known)
    }
  }
  const entries = [...places]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([message, { plural, files: from }]) => {
      const rest =
        plural === undefined
          ? ['msgstr ""']
          : [`msgid_plural ${quoted(plural)}`, 'msgstr[0] ""', 'msgstr[1] ""']
      return [`#: ${[...from].toSorted().join(' ')}`, `msgid ${quoted(message)}`, ...rest].join('\n')
    })
  return `${[header, ...entries].join('\n\n')}\n`
}

const header = [
  'msgid ""',
  'msgstr ""',
  '"Project-Id-Version: Property Events\\n"',
  '"Content-Type: text/plain; charset=UTF-8\\n"',
  '"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n"',
  '"X-Domain: property-events\\n"',
].join('\n')

/** From PHP's quotes to those of the template. */
function quoted(words: string): string {
  return JSON.stringify(words.replaceAll(/\\(['\\])/g, '$1'))
}

if (import.meta.main) {
  mkdirSync(dirname(target), { recursive: true })
  const files = pluginFiles().map(({ path, bytes }) => ({ path, text: Buffer.from(bytes).toString() }))
  writeFileSync(target, templateOf(files))
}
