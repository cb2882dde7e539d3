/** Finds operations, fields, codes and problems by any part of their names and texts. `/` begins, the arrows choose. */
interface Entry {
  readonly id: string
  /** Such as `price_qualifier`. */
  readonly name: string
  /** Where it belongs: the heading above it. */
  readonly place: string
  /** All that is searched, in lower case. */
  readonly text: string
  /** Before others with the same match: 0 is first. */
  readonly rank: number
}

const mostShown = 12

function textOf(element: Element | null | undefined): string {
  return (element?.textContent ?? '').replaceAll(/\s+/g, ' ').trim()
}

/** `price qualifier` finds `price_qualifier`, and the other way round. */
function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[_\s-]+/g, ' ')
}

function entryOf(element: Element): Entry {
  const heading = element.matches('section') ? element.querySelector('h2, h3') : null
  const term = element.querySelector(':scope > dt, :scope > th')
  const name = heading === null ? textOf(term?.querySelector('code') ?? term ?? element) : textOf(heading)
  const holder = element.parentElement?.closest('section')
  const place = textOf(holder?.querySelector('h2, h3'))
  const route = textOf(element.querySelector(':scope > div > .route'))
  const about = heading === null ? textOf(element.querySelector(':scope > dd')) : route
  const rank = heading === null ? (element.matches('li') ? 2 : 1) : 0
  return { id: element.id, name, place, text: plain(`${name} ${about} ${element.id}`), rank }
}

let entries: readonly Entry[] | undefined

function entriesOfPage(): readonly Entry[] {
  const found = document.querySelectorAll('main section[id], main dl > div[id], main li[id], main tr[id]')
  return (entries ??= [...found].map(entryOf))
}

function matches(query: string): readonly Entry[] {
  const words = plain(query)
    .split(' ')
    .filter((word) => word !== '')
  if (words.length === 0) return []
  const whole = words.join(' ')
  const score = ({ name, rank }: Entry): number => {
    const shown = plain(name)
    if (shown === whole) return rank
    if (shown.startsWith(whole)) return 3 + rank
    return words.every((word) => shown.includes(word)) ? 6 + rank : 9 + rank
  }
  return entriesOfPage()
    .filter(({ text }) => words.every((word) => text.includes(word)))
    .map((entry) => ({ entry, score: score(entry) }))
    .sort((left, right) => left.score - right.score)
    .slice(0, mostShown)
    .map(({ entry }) => entry)
}

const box = document.createElement('div')
box.className = 'search'
box.setAttribute('role', 'search')
const input = document.createElement('input')
input.type = 'search'
input.placeholder = 'Search  /'
input.autocomplete = 'off'
input.spellcheck = false
const list = document.createElement('ul')
list.id = 'found'
list.hidden = true
const said = document.createElement('p')
said.className = 'said'
said.setAttribute('role', 'status')
for (const [name, value] of Object.entries({
  role: 'combobox',
  'aria-label': 'Search the reference',
  'aria-autocomplete': 'list',
  'aria-controls': 'found',
  'aria-expanded': 'false',
}))
  input.setAttribute(name, value)
list.setAttribute('role', 'listbox')
list.setAttribute('aria-label', 'Found')
box.append(input, list, said)
document.querySelector('header')?.append(box)

let chosen = 0

function mark(): void {
  for (const [index, item] of [...list.children].entries()) {
    item.setAttribute('aria-selected', String(index === chosen))
    if (index === chosen) item.scrollIntoView({ block: 'nearest' })
  }
  if (list.hidden) input.removeAttribute('aria-activedescendant')
  else input.setAttribute('aria-activedescendant', `found-${chosen}`)
}

function close(): void {
  list.hidden = true
  input.setAttribute('aria-expanded', 'false')
  mark()
}

function open(id: string): void {
  close()
  input.value = ''
  said.textContent = ''
  input.blur()
  location.hash = id
}

function itemOf({ id, name, place }: Entry, index: number): HTMLElement {
  const item = document.createElement('li')
  item.id = `found-${index}`
  item.setAttribute('role', 'option')
  item.dataset['place'] = id
  const where = document.createElement('small')
  where.textContent = place
  item.append(name, where)
  // Before the field loses the focus, which closes the list.
  item.addEventListener('pointerdown', (event) => {
    event.preventDefault()
    open(id)
  })
  return item
}

function show(): void {
  const found = matches(input.value)
  chosen = 0
  list.replaceChildren(...found.map(itemOf))
  list.hidden = found.length === 0
  input.setAttribute('aria-expanded', String(found.length > 0))
  said.textContent = input.value.trim() === '' ? '' : found.length === 0 ? 'Nothing found' : ''
  mark()
}

input.addEventListener('input', show)
input.addEventListener('blur', close)
input.addEventListener('keydown', (event) => {
  const count = list.hidden ? 0 : list.children.length
  if (event.key === 'Escape') {
    input.value = ''
    show()
    input.blur()
  }
  if (count === 0) return
  if (event.key === 'ArrowDown') chosen = (chosen + 1) % count
  else if (event.key === 'ArrowUp') chosen = (chosen + count - 1) % count
  else if (event.key === 'Enter') {
    const item = list.children[chosen]
    if (item instanceof HTMLElement) open(item.dataset['place'] ?? '')
  } else return
  event.preventDefault()
  mark()
})
document.addEventListener('keydown', (event) => {
  const { target } = event
  const isTyping = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  input.focus()
})
