/** The language of the samples: chosen once for the whole page, and remembered. Nothing else is ever kept. */
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

function groupFor(samples: Element, figures: readonly HTMLElement[]): HTMLElement {
  const group = document.createElement('div')
  group.className = 'languages'
  group.setAttribute('role', 'group')
  group.setAttribute('aria-label', 'Language of the samples')
  for (const figure of figures) {
    const button = document.createElement('button')
    button.type = 'button'
    button.value = figure.dataset['language'] ?? ''
    button.textContent = figure.dataset['title'] ?? ''
    button.addEventListener('click', () => {
      const { top } = samples.getBoundingClientRect()
      choose(button.value)
      remember(button.value)
      // What stands above may have become longer or shorter; the samples stay under the pointer.
      scrollBy({ top: samples.getBoundingClientRect().top - top, behavior: 'instant' })
      // The button of the language that was chosen before is hidden now.
      const shown = figures.find(({ dataset }) => dataset['language'] === button.value)
      shown?.querySelector<HTMLElement>(`button[value="${button.value}"]`)?.focus({ preventScroll: true })
    })
    buttons.push(button)
    group.append(button)
  }
  return group
}

for (const samples of document.querySelectorAll('.samples')) {
  const figures = [...samples.querySelectorAll<HTMLElement>('figure[data-language]')]
  for (const figure of figures)
    figure.dataset['title'] = figure.querySelector('figcaption')?.textContent ?? ''
  for (const figure of figures)
    figure.querySelector('figcaption')?.replaceChildren(groupFor(samples, figures))
}
const [first] = buttons
const known = buttons.some(({ value }) => value === remembered())
choose(known ? (remembered() ?? '') : (first?.value ?? ''))
