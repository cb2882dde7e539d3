/** Samples of code: a button that copies each, and colours that change nothing in the page itself. */
const kinds = {
  comment: /(?:^|(?<=\s))(?:\/\/|#).*$/gm,
  string: /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g,
  name: /\b(?:import|from|export|const|for|await|of|if|else|new|function|fn|use|while|require|echo|true|false|null|curl|throw)\b/g,
  number: /\b\d[\d_.]*\b/g,
} as const

function copyButton(figure: HTMLElement): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', () => {
    const text = figure.querySelector('pre')?.textContent ?? ''
    const said = (word: string): void => {
      button.textContent = word
      setTimeout(() => (button.textContent = 'Copy'), 1_500)
    }
    // A page that did not come over TLS, nor from this machine, may not write to the clipboard.
    if (!('clipboard' in navigator)) return said('Not allowed here')
    navigator.clipboard.writeText(text).then(
      () => said('Copied'),
      () => said('Not allowed here'),
    )
  })
  return button
}

for (const figure of document.querySelectorAll('figure')) {
  figure.querySelector('figcaption')?.append(copyButton(figure))
}

/** The ranges of each kind in one text; what lies in a comment or string is nothing else. */
function rangesIn(text: Text): readonly (readonly [string, StaticRange])[] {
  const taken: (readonly [number, number])[] = []
  return Object.entries(kinds).flatMap(([kind, pattern]) =>
    [...text.data.matchAll(pattern)].flatMap((match) => {
      const start = match.index
      const end = start + match[0].length
      if (taken.some(([from, to]) => start < to && end > from)) return []
      taken.push([start, end])
      const range = new StaticRange({
        startContainer: text,
        startOffset: start,
        endContainer: text,
        endOffset: end,
      })
      return [[kind, range] as const]
    }),
  )
}

function colour(): void {
  const found = [...document.querySelectorAll('pre code')].flatMap(({ firstChild }) =>
    firstChild instanceof Text ? rangesIn(firstChild) : [],
  )
  for (const kind of Object.keys(kinds)) {
    const ranges = found.filter(([name]) => name === kind).map(([, range]) => range)
    CSS.highlights.set(kind, new Highlight(...ranges))
  }
}

if ('highlights' in CSS) {
  // After what a reader waits for, in browsers that say when that is.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(colour)
  else colour()
}
