/** The language of the samples: chosen once for the whole page, and remembered. Nothing else is ever kept. */
export {}

const place = 'property-events-language'
const root = document.documentElement
const buttons: HTMLButtonElement[] = []

function choose(language: string): void {
  root.dataset['language'] = language
  for (const button of buttons) button.setAttribute('aria-pressed', String(button.value === language))
}

function remembered(): string | null {
  try {
    return localStorage.getItem(place)
  } catch {
    // A browser can be told to keep nothing.
    return null
  }
}

function remember(language: string): void {
  try {
    localStorage.setItem(place, language)
  } catch {
    // The language is then chosen again the next time.
  }
}

function groupFor(figures: readonly HTMLElement[]): HTMLElement {
  const group = document.createElement('div')
  group.className = 'languages'
  group.setAttribute('role', 'group')
  group.setAttribute('aria-label', 'Language of the samples')
  for (const figure of figures) {
    const button = document.createElement('button')
    button.type = 'button'
    button.value = figure.dataset['language'] ?? ''
    button.textContent = figure.querySelector('figcaption')?.textContent ?? ''
    button.addEventListener('click', () => {
      const { top } = group.getBoundingClientRect()
      choose(button.value)
      remember(button.value)
      // What stands above may have become longer or shorter; the button stays under the pointer.
      scrollBy({ top: group.getBoundingClientRect().top - top, behavior: 'instant' })
    })
    buttons.push(button)
    group.append(button)
  }
  return group
}

for (const samples of document.querySelectorAll('.samples')) {
  const figures = [...samples.querySelectorAll<HTMLElement>('figure[data-language]')]
  if (figures.length > 0) samples.prepend(groupFor(figures))
}
const [first] = buttons
const known = buttons.some(({ value }) => value === remembered())
choose(known ? (remembered() ?? '') : (first?.value ?? ''))
