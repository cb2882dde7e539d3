/** Text as HTML. */

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Where a word in backticks leads to, as `problem code → its anchor`. */
export type Links = ReadonlyMap<string, string>

/**
 * A description as HTML. Words in backticks are code, and those with an anchor are links to it. Numbers of decisions, which say nothing to
 * a reader of this page, are left out.
 */
export function prose(text: string, links: Links): string {
  return escapeHtml(text.replaceAll(/ \((?:D\d+(?:, )?)+\)/g, '')).replaceAll(
    /`([^`]*)`/g,
    (_, word: string) => {
      const anchor = links.get(word)
      return anchor === undefined ? `<code>${word}</code>` : link(anchor, `<code>${word}</code>`)
    },
  )
}

/** `content` is HTML. */
export function link(anchor: string, content: string): string {
  return `<a href="#${anchor}">${content}</a>`
}

export function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`
}

/** One row of a list of parameters, fields, answers or problems. Everything but `anchor` is HTML. */
export interface Row {
  /** `undefined`: the row has no address of its own. */
  readonly anchor: string | undefined
  readonly name: string
  /** Stands after the name, smaller: its type, and whether it is required. */
  readonly kind: string
  /** Empty: there is nothing more to say. */
  readonly text: string
  /** Further attributes, for the scripts of the page. */
  readonly attributes?: string
}

export function rows(list: readonly Row[]): string {
  const html = list.map(({ anchor, name, kind, text, attributes = '' }) => {
    const id = anchor === undefined ? '' : ` id="${escapeHtml(anchor)}"`
    return `<div${id}${attributes}><dt>${name} <small>${kind}</small></dt><dd>${text}</dd></div>`
  })
  return `<dl>\n${html.join('\n')}\n</dl>`
}

/** A sample of code. `language` is the name that a reader chooses it by; `undefined`: it is the same in all. */
export function block(text: string, title: string, language?: string): string {
  const chosen = language === undefined ? '' : ` data-language="${language}"`
  return `<figure${chosen}><figcaption>${escapeHtml(title)}</figcaption><pre><code>${escapeHtml(text)}</code></pre></figure>`
}
