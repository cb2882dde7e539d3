/**
 * Descriptions hold whatever an agency pasted: plain text, HTML of a word processor, a script. The result is text, and HTML made of nine
 * elements without a single attribute, so that it can go into any page.
 */
import { BlockWriter, isBlock } from './block-writer.ts'
import type { Block } from './block-writer.ts'
import { anyMore, decodeEntities, escapedLess, unwrap } from './entities.ts'

export interface ListingText {
  /** Paragraphs are divided by an empty line; items of lists begin with `- `. */
  readonly text: string
  /** `p`, `br`, `ul`, `ol`, `li`, `h3`, `strong`, `em`, all closed; anything else is text or gone. */
  readonly html: string
}

/** Elements whose content is not for readers. */
const hidden =
  /<(script|style|title|textarea|template|iframe|noscript|object|svg|math|xmp|noembed|noframes)\b[^]*?(?:<\/\1[^>]*(?:>|$)|$)/gi
const comments = /<!--[^]*?(?:-->|$)|<![^>]*(?:>|$)|<\?[^>]*(?:>|$)/g
/**
 * A tag begins with a letter; any other `<` is a character: "2 < 3". Quotes count only after `=`, as for browsers. A tag always ends, at
 * the end of the text if nowhere else, so no text makes the search go back.
 */
const tag = /<(\/?)([A-Za-z][A-Za-z0-9]*)(?:=\s*(?:"[^"]*(?:"|$)|'[^']*(?:'|$))|[^>])*(?:>|$)/g

const usualNames =
  'p|br|hr|b|strong|i|em|u|ul|ol|li|div|span|h[1-6]|table|tbody|tr|td|th|font|a|img|script|style'
/** A tag that was escaped, so that readers would see it. */
const escapedTag = new RegExp(`${escapedLess}/?(?:${usualNames})(?:[\\s/]*${anyMore}|\\s+[a-z-]+\\s*=)`, 'i')
const escapedMark = /&(?:amp|lt|gt|quot|apos|#0*(?:34|38|39|60|62)|#x0*(?:22|26|27|3c|3e));/gi
/** The tags of blocks and lines, which nobody writes about: escaped among others that are not, they are meant as tags, too. */
const escapedBlock = new RegExp(
  `${escapedLess}(/?(?:p|br|ul|ol|li|div|span|strong|em|h[1-6])(?:\\s[^<>]{0,200}?|/)?)${anyMore}`,
  'gi',
)
/** Nobody escapes a text more often. */
const mostEscapes = 3

/** Reads a description. Never throws; `<`, `>` and `&` come out escaped in the HTML, whatever came in. */
export function describe(source: string | null | undefined): ListingText {
  const blocks = blocksOf(cleaned(source ?? ''))
  return { text: textOf(blocks), html: htmlOf(blocks) }
}

/** The words of a text that should have no tags, in one line. */
export function wordsOf(source: string | null | undefined): string {
  return blocksOf(cleaned(source ?? ''))
    .map(({ text }) => text.replaceAll('\n', ' '))
    .join(' ')
}

function cleaned(source: string): string {
  let markup = unwrap(source)
  for (let times = 0; times < mostEscapes && isEscaped(markup); times += 1) {
    markup = unwrap(markup.replaceAll(escapedMark, (mark) => decodeEntities(mark)))
  }
  return markup.replaceAll(escapedBlock, '<$1>').replaceAll(comments, '').replaceAll(hidden, ' ')
}

/** Whether a text is HTML that was escaped as a whole: it has escaped tags, and no others but the `<br>` of its line ends. */
function isEscaped(source: string): boolean {
  if (!escapedTag.test(source)) return false
  return Array.from(source.matchAll(tag)).every(([, , name = '']) => name.toLowerCase() === 'br')
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
