/**
 * Descriptions hold whatever an agency pasted: plain text, HTML of a word processor, a script. The result is text, and HTML made of nine
 * elements without a single attribute, so that it can go into any page.
 */
import { BlockWriter, isBlock } from './block-writer.ts'
import type { Block } from './block-writer.ts'

export interface ListingText {
  /** Paragraphs are divided by an empty line; items of lists begin with `- `. */
  readonly text: string
  /** `p`, `br`, `ul`, `ol`, `li`, `h3`, `strong`, `em`, all closed; anything else is text or gone. */
  readonly html: string
}

/** Control characters, and those that turn the direction of the text around them. */
// oxlint-disable-next-line no-control-regex -- They are what is taken out.
const unseen = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g
/** Elements whose content is not for readers. */
const hidden =
  /<(script|style|title|textarea|template|iframe|noscript|object|svg|math|xmp|noembed|noframes)\b[^]*?(?:<\/\1[^>]*(?:>|$)|$)/gi
const comments = /<!--[^]*?(?:-->|$)|<![^>]*(?:>|$)|<\?[^>]*(?:>|$)/g
/**
 * A tag begins with a letter; any other `<` is a character: "2 < 3". Quotes count only after `=`, as for browsers. A tag always ends, at
 * the end of the text if nowhere else, so no text makes the search go back.
 */
const tag = /<(\/?)([A-Za-z][A-Za-z0-9]*)(?:=\s*(?:"[^"]*(?:"|$)|'[^']*(?:'|$))|[^>])*(?:>|$)/g

/** Reads a description. Never throws; `<`, `>` and `&` come out escaped in the HTML, whatever came in. */
export function describe(source: string | null | undefined): ListingText {
  const cleaned = (source ?? '').replaceAll(unseen, '').replaceAll(comments, '').replaceAll(hidden, ' ')
  const blocks = blocksOf(cleaned)
  return { text: textOf(blocks), html: htmlOf(blocks) }
}

function blocksOf(source: string): readonly Block[] {
  // In HTML with paragraphs a line feed is a blank; in all other texts it ends a line.
  const hasBlocks = Array.from(source.matchAll(tag)).some(([, , name = '']) => isBlock(name.toLowerCase()))
  const writer = new BlockWriter()
  let from = 0
  for (const found of source.matchAll(tag)) {
    writer.addText(source.slice(from, found.index), hasBlocks)
    from = found.index + found[0].length
    writer.addTag((found[2] ?? '').toLowerCase(), found[1] === '/')
  }
  writer.addText(source.slice(from), hasBlocks)
  return writer.blocks()
}

function textOf(blocks: readonly Block[]): string {
  let text = ''
  for (const [index, { kind, text: own }] of blocks.entries()) {
    const isItem = kind === 'ul' || kind === 'ol'
    const isNext = isItem && blocks[index - 1]?.kind === kind
    text += `${index === 0 ? '' : isNext ? '\n' : '\n\n'}${isItem ? '- ' : ''}${own}`
  }
  return text
}

function htmlOf(blocks: readonly Block[]): string {
  let html = ''
  for (const [index, { kind, html: own }] of blocks.entries()) {
    if (kind === 'p' || kind === 'h3') {
      html += `<${kind}>${own}</${kind}>`
      continue
    }
    if (blocks[index - 1]?.kind !== kind) html += `<${kind}>`
    html += `<li>${own}</li>`
    if (blocks[index + 1]?.kind !== kind) html += `</${kind}>`
  }
  return html
}
