/** The contents: on a narrow screen behind a button, on a wide one beside the text, with the place marked where the reader is. */
const nav = document.querySelector('nav')
const header = document.querySelector('header')

const button = document.createElement('button')
button.type = 'button'
button.className = 'menu'
button.textContent = 'Contents'

function show(isOpen: boolean): void {
  nav?.classList.toggle('open', isOpen)
  button.setAttribute('aria-expanded', String(isOpen))
}

if (nav !== null && header !== null) {
  nav.id = 'contents'
  button.setAttribute('aria-controls', 'contents')
  header.prepend(button)
  document.documentElement.classList.add('scripted')
  show(false)
  button.addEventListener('click', () => show(!nav.classList.contains('open')))
  nav.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('a') !== null) show(false)
  })
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') show(false)
  })
}

const links = new Map<string, HTMLAnchorElement>()
for (const link of nav?.querySelectorAll('a') ?? []) links.set(link.hash.slice(1), link)

/** Sections that are in sight, each in its place on the page. */
const seen = new Set<Element>()
const sections = [...document.querySelectorAll('section[id]')].filter(({ id }) => links.has(id))

function mark(): void {
  const current = sections.findLast((section) => seen.has(section))
  for (const [id, link] of links) {
    if (id === current?.id) link.setAttribute('aria-current', 'location')
    else link.removeAttribute('aria-current')
  }
  const link = links.get(current?.id ?? '')
  if (link === undefined || nav === null) return
  const { offsetTop, offsetHeight } = link
  const isHidden = offsetTop < nav.scrollTop || offsetTop + offsetHeight > nav.scrollTop + nav.clientHeight
  if (isHidden) nav.scrollTop = offsetTop - nav.clientHeight / 3
}

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) seen.add(target)
      else seen.delete(target)
    }
    mark()
  },
  // A section is where the reader is once it has reached the upper part of the window.
  { rootMargin: '-64px 0px -70% 0px' },
)
for (const section of sections) observer.observe(section)

/** Links of parameters, fields and codes to themselves. Written into the page, they would be 8 kB of it, compressed. */
for (const { firstElementChild: name, parentElement } of document.querySelectorAll('div[id] > dt')) {
  if (name?.tagName !== 'CODE' || parentElement === null) continue
  const link = document.createElement('a')
  link.href = `#${parentElement.id}`
  name.replaceWith(link)
  link.append(name)
}
