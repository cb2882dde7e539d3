/** Assembles the pieces of a description into paragraphs and list items, as HTML and as text at the same time. */
import { decodeEntities } from './entities.ts'

export interface Block {
  /** `ul` and `ol`: an item of such a list. */
  readonly kind: 'p' | 'h3' | 'ul' | 'ol'
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
export function isBlock(name: string): boolean {
  return blockNames.has(name)
}

/** Inline elements are closed with their block and do not continue in the next one. Unknown elements leave their text. */
export class BlockWriter {
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
      const words = line.replaceAll(/\s+/g, ' ')
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
    if (text !== '') this.#blocks.push({ kind: this.#kind, html: tidyHtml(this.#html), text })
    this.#html = ''
    this.#text = ''
    this.#tail = ''
    this.#kind = 'p'
  }
}

/** Without breaks at its end and emphasis on nothing. */
function tidyHtml(html: string): string {
  const emphasisOnNothing = /<(strong|em)>( ?)<\/\1>/g
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
