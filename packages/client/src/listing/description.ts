/**
 * Descriptions hold whatever an agency pasted: plain text, HTML of a word processor, a script. The result is text, and HTML made of nine
 * elements without a single attribute, so that it can go into any page.
 */
import { anyMore, decodeEntities, escapedLess, otherBlanks, unwrap } from './entities.ts'

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
  // Everything that follows begins with one of these, and most captions have neither.
  if (!/[<&]/.test(markup)) return markup
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
  // The text before the first tag; of each tag its slash, its name and the text after it.
  const pieces = source.split(tag)
  // In HTML with paragraphs a line feed is a blank; in all other texts it ends a line.
  const hasBlocks = pieces.some((name, index) => index % 3 === 2 && isBlock(name.toLowerCase()))
  const writer = new BlockWriter()
  for (let at = 0; at < pieces.length; at += 3) {
    if (at > 0) writer.addTag((pieces[at - 1] ?? '').toLowerCase(), pieces[at - 2] === '/')
    writer.addText(pieces[at] ?? '', hasBlocks)
  }
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
  for (const [index, { kind, html: untidy }] of blocks.entries()) {
    const own = tidyHtml(untidy)
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

/** Assembles the pieces of a description into paragraphs and list items, as HTML and as text at the same time. */
interface Block {
  /** `ul` and `ol`: an item of such a list. */
  readonly kind: 'p' | 'h3' | 'ul' | 'ol'
  /** Not yet tidy: captions need no HTML. */
  readonly html: string
  readonly text: string
}

type Inline = 'strong' | 'em'

export const inlineNames: Readonly<Record<string, Inline>> = {
  b: 'strong',
  strong: 'strong',
  i: 'em',
  em: 'em',
}
export const blockNames: ReadonlySet<string> = new Set(
  'p div section article header footer blockquote pre table tr ul ol li h1 h2 h3 h4 h5 h6 hr dl dt dd'.split(
    ' ',
  ),
)

/** Whether an element begins a block of its own. `name`: in lower case. */
function isBlock(name: string): boolean {
  return blockNames.has(name)
}

/** Inline elements are closed with their block and do not continue in the next one. Unknown elements leave their text. */
class BlockWriter {
  readonly #blocks: Block[] = []
  readonly #lists: ('ul' | 'ol')[] = []
  #kind: Block['kind'] = 'p'
  #html = ''
  #text = ''
  /**
   * The last characters of the text, kept apart: asking the text itself would copy all of it each time, because it grows piece by piece.
   */
  #tail = ''
  #open: Inline[] = []

  /** `name`: in lower case. */
  addTag(name: string, isEnd: boolean): void {
    const inline = Object.hasOwn(inlineNames, name) ? inlineNames[name] : undefined
    if (inline !== undefined) this.#addInline(inline, isEnd)
    else if (isBlock(name)) this.#addBlock(name, isEnd)
    else if (name === 'br') this.#addBreak()
    else if (name === 'td' || name === 'th') this.#addWords(' ')
  }

  /** `isHtml`: a line feed is a blank. Otherwise it ends a line, and an empty line ends a paragraph. */
  addText(source: string, isHtml: boolean): void {
    const text = decodeEntities(source)
    const lines = isHtml ? [text] : text.split(/\r\n|\n|\r/)
    for (const [index, line] of lines.entries()) {
      const words = line.replaceAll(otherBlanks, ' ')
      if (index > 0 && words.trim() === '' && index < lines.length - 1) this.#close()
      else if (index > 0) this.#addBreak()
      this.#addWords(words)
    }
  }

  blocks(): readonly Block[] {
    this.#close()
    return this.#blocks
  }

  #add(html: string, text: string): void {
    this.#html += html
    this.#text += text
    this.#tail = (this.#tail + text.slice(-2)).slice(-2)
  }

  #addWords(words: string): void {
    const isAfterBlank = this.#tail === '' || this.#tail.endsWith(' ') || this.#tail.endsWith('\n')
    const added = isAfterBlank ? words.trimStart() : words
    this.#add(escapeHtml(added), added)
  }

  #addBreak(): void {
    // At most one empty line, however many the source has.
    if (this.#tail !== '' && this.#tail !== '\n\n') this.#add('<br>', '\n')
  }

  #addInline(name: Inline, isEnd: boolean): void {
    const at = this.#open.indexOf(name)
    // What was opened after it is closed with it.
    if (isEnd && at !== -1) this.#closeInline(at)
    if (isEnd || at !== -1) return
    this.#open.push(name)
    this.#html += `<${name}>`
  }

  #closeInline(from: number): void {
    for (const name of this.#open.splice(from).toReversed()) this.#html += `</${name}>`
  }

  #addBlock(name: string, isEnd: boolean): void {
    this.#close()
    if (name === 'ul' || name === 'ol') {
      if (isEnd) this.#lists.pop()
      else this.#lists.push(name)
    }
    if (!isEnd && name === 'li') this.#kind = this.#lists.at(-1) ?? 'ul'
    if (!isEnd && /^h[1-6]$/.test(name)) this.#kind = 'h3'
  }

  #close(): void {
    this.#closeInline(0)
    const text = this.#text.replaceAll(/ ?\n ?/g, '\n').trim()
    if (text !== '') this.#blocks.push({ kind: this.#kind, html: this.#html, text })
    this.#html = ''
    this.#text = ''
    this.#tail = ''
    this.#kind = 'p'
  }
}

const emphasisOnNothing = /<(strong|em)>( ?)<\/\1>/g

/** Without breaks at its end and emphasis on nothing. */
function tidyHtml(html: string): string {
  return (
    html
      .replaceAll(emphasisOnNothing, '$2')
      // One inside the other.
      .replaceAll(emphasisOnNothing, '$2')
      .replaceAll(/ ?<br> ?/g, '<br>')
      .replace(/(?: |<br>){1,3}$/, '')
      .trim()
  )
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
