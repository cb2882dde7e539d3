/** The documents of the project, and the blocks of code in them. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../../../..')

/** Every Markdown file that is written by hand, by its path from the root. Results of benchmarks are not. */
export const documents: readonly string[] = [
  ...markdownIn('.'),
  ...markdownIn('docs', { recursive: true }),
  ...markdownIn('packages', { recursive: true }),
  ...markdownIn('examples', { recursive: true }),
  ...markdownIn('bench'),
]

function markdownIn(folder: string, options: { readonly recursive?: true } = {}): readonly string[] {
  return readdirSync(join(root, folder), options)
    .map((name) => join(folder, String(name)))
    .filter((path) => path.endsWith('.md') && !path.includes('node_modules'))
    .toSorted()
}

export function textOf(document: string): string {
  return readFileSync(join(root, document), 'utf8')
}

export interface Block {
  readonly document: string
  /** Of its fence, from 1. */
  readonly line: number
  /** Lower case; empty where none is given. */
  readonly language: string
  /** What follows the language on the fence, such as `fragment`. */
  readonly mark: string
  readonly text: string
}

/** All fenced blocks of a text, however deep they stand in a list; the indentation of the fence is taken off. */
export function blocksIn(document: string, text: string): readonly Block[] {
  return [...text.matchAll(/^( *)(`{3,}|~{3,})(\S*)[ \t]*(.*)\n([\s\S]*?)^\1\2[ \t]*$/gm)].map((match) => {
    const [, indent = '', , language = '', mark = '', content = ''] = match
    return {
      document,
      line: text.slice(0, match.index).split('\n').length,
      language: language.toLowerCase(),
      mark: mark.trim(),
      text: content.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }
  })
}
