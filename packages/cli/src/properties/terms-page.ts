/** The terms of a property as a page of HTML that needs nothing else, set for A4. */
import type { PropertyTerms } from '@property-events/client'

/** A part of what is shown, for people. */
export interface TermsSection {
  readonly title: string
  readonly rows: readonly (readonly [name: string, words: string])[]
}

const style = `
  @page { size: A4; margin: 18mm 16mm }
  body { font: 10.5pt/1.45 system-ui, sans-serif; color: #111; max-width: 178mm; margin: 2em auto; padding: 0 1em }
  h1 { font-size: 15pt; margin: 0 0 .3em }
  h2 { font-size: 11.5pt; margin: 1.4em 0 .3em; break-after: avoid }
  table { border-collapse: collapse; width: 100% }
  th, td { text-align: left; vertical-align: top; padding: .25em .8em .25em 0; border-top: .5pt solid #bbb; overflow-wrap: anywhere }
  th { font-weight: 600; width: 32% }
  tr { break-inside: avoid }
  footer { margin-top: 1.6em; font-size: 9pt; color: #444 }
  @media print { body { margin: 0; padding: 0; max-width: none } }
`

export function termsPage(terms: PropertyTerms, sections: readonly TermsSection[]): string {
  const title = `Terms of a property at ${terms.at.slice(0, 19).replace('T', ' ')} UTC`
  return `<!doctype html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p>${escaped(terms.sentence)}</p>
${sections.map(sectionHtml).join('\n')}
<footer>Taken from the record of the event feed. <em>Sent</em> means that an answer with the event was taken; it never means that anything was
done with it. What consumers applied and showed is what they reported. All times are UTC.</footer>
</body>
</html>
`
}

function sectionHtml({ title, rows }: TermsSection): string {
  const lines = rows.map(
    ([name, words]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(words)}</td></tr>`,
  )
  return `<h2>${escaped(title)}</h2>\n<table>\n${lines.join('\n')}\n</table>`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (character) => entities[character] ?? character)
}
