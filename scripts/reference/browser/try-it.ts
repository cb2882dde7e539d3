/**
 * Sends a request of an operation from this page to the service it came from. The key is in the memory of the page and goes into the
 * header `x-api-key` alone: never into an address, a form or what a browser keeps.
 */
const base = location.pathname.replace(/\/docs\/?$/i, '')

/** Of an answer. What is longer is cut off, so that a snapshot of a million properties does not fill the page. */
const mostShownBytes = 100_000

const keyFields: HTMLInputElement[] = []
let made = 0

interface Field {
  readonly name: string
  readonly place: string
  readonly input: HTMLInputElement
}

function labelled(text: string, control: HTMLInputElement | HTMLTextAreaElement): HTMLLabelElement {
  const label = document.createElement('label')
  const name = document.createElement('span')
  name.textContent = text
  label.append(name, control)
  return label
}

function keyField(): HTMLInputElement {
  const input = document.createElement('input')
  input.type = 'password'
  input.autocomplete = 'off'
  input.spellcheck = false
  input.placeholder = 'kept in memory only'
  input.value = keyFields[0]?.value ?? ''
  input.addEventListener('input', () => {
    for (const other of keyFields) other.value = input.value
  })
  keyFields.push(input)
  return input
}

function fieldsOf(section: HTMLElement): readonly Field[] {
  return [...section.querySelectorAll<HTMLElement>('[data-in]')].map(({ dataset }) => {
    const input = document.createElement('input')
    input.autocomplete = 'off'
    input.spellcheck = false
    // Whoever tries how to publish or to erase should have to say that it is meant.
    input.value = dataset['name'] === 'dryRun' ? 'true' : (dataset['value'] ?? '')
    return { name: dataset['name'] ?? '', place: dataset['in'] ?? '', input }
  })
}

function requestOf(section: HTMLElement, fields: readonly Field[], body: HTMLTextAreaElement | undefined) {
  const query = new URLSearchParams()
  const headers = new Headers()
  let path = section.dataset['path'] ?? ''
  for (const { name, place, input } of fields) {
    const value = input.value.trim()
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
    else if (value !== '' && place === 'query') query.set(name, value)
    else if (value !== '') headers.set(name, value)
  }
  const key = keyFields[0]?.value.trim() ?? ''
  if (key !== '') headers.set('x-api-key', key)
  if (body !== undefined) headers.set('content-type', 'application/json')
  const asked = query.size === 0 ? '' : `?${query}`
  const options: RequestInit = {
    method: section.dataset['method'] ?? 'GET',
    headers,
    body: body === undefined ? null : body.value,
    cache: 'no-store',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    redirect: 'error',
  }
  return { target: base + path + asked, options }
}

/** The beginning of an answer, made readable where it is JSON. */
const streamShownMs = 3_000

async function textOf(answer: Response): Promise<string> {
  const decoder = new TextDecoder()
  const reader = answer.body?.getReader()
  let text = ''
  // A stream of events goes on for minutes: what came at first is shown.
  const isStream = answer.headers.get('content-type') === 'text/event-stream'
  const timer = isStream ? setTimeout(() => void reader?.cancel(), streamShownMs) : undefined
  for (;;) {
    const piece = await reader?.read()
    if (piece === undefined || piece.done) break
    text += decoder.decode(piece.value, { stream: true })
    if (text.length <= mostShownBytes) continue
    await reader?.cancel()
    return `${text.slice(0, mostShownBytes)}\n… cut off here`
  }
  clearTimeout(timer)
  if (isStream) return `${text}… the stream goes on`
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const shownHeaders = [
  'x-request-id',
  'x-feed-head',
  'x-feed-epoch',
  'etag',
  'ratelimit',
  'retry-after',
  'x-ignored-parameters',
]

/** Where this page says what to do about a refusal; `undefined`: the text is none, or names a code of a later version. */
function remedyLink(text: string): HTMLAnchorElement | undefined {
  const [, code = ''] = /^ {2}"code": "(\w+)"/m.exec(text) ?? []
  if (code === '' || document.getElementById(code) === null) return undefined
  const link = document.createElement('a')
  link.href = `#${code}`
  link.textContent = code
  return link
}

async function send(
  target: string,
  options: RequestInit,
  status: HTMLElement,
  output: HTMLElement,
): Promise<void> {
  status.textContent = 'Asking…'
  const startedMs = performance.now()
  try {
    const answer = await fetch(target, options)
    const text = await textOf(answer)
    const tookMs = Math.round(performance.now() - startedMs)
    status.textContent = `${answer.status} ${answer.statusText} in ${tookMs} ms`
    const lines = shownHeaders.flatMap((name) => {
      const value = answer.headers.get(name)
      return value === null ? [] : [`${name}: ${value}`]
    })
    output.textContent = [...lines, '', text].join('\n')
    output.hidden = false
    const link = answer.ok ? undefined : remedyLink(text)
    if (link !== undefined) status.append('. What to do: ', link)
  } catch {
    status.textContent =
      'No answer. A header that cannot be sent, such as a key with a line break, has none either.'
    output.hidden = true
  }
}

function panelFor(section: HTMLElement): HTMLElement {
  const panel = document.createElement('div')
  panel.className = 'panel'
  panel.id = `try-${(made += 1)}`
  const fields = fieldsOf(section)
  const sample = section.dataset['body']
  const body = sample === undefined ? undefined : document.createElement('textarea')
  const status = document.createElement('p')
  status.setAttribute('role', 'status')
  const output = document.createElement('pre')
  output.hidden = true
  output.tabIndex = 0
  output.setAttribute('role', 'region')
  output.setAttribute('aria-label', 'Answer')
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'send'
  button.textContent = 'Send'
  const ask = (): void => {
    const { target, options } = requestOf(section, fields, body)
    void send(target, options, status, output)
  }
  button.addEventListener('click', ask)
  panel.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement) ask()
  })
  if (section.querySelector('.need a') !== null) panel.append(labelled('Key', keyField()))
  for (const { name, input } of fields) panel.append(labelled(name, input))
  if (body !== undefined) {
    body.value = sample ?? ''
    body.rows = 12
    body.spellcheck = false
    panel.append(labelled('Body', body))
  }
  panel.append(button, status, output)
  return panel
}

for (const section of document.querySelectorAll<HTMLElement>('section.operation')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'try'
  button.textContent = 'Try it'
  button.setAttribute('aria-expanded', 'false')
  let panel: HTMLElement | undefined
  button.addEventListener('click', () => {
    if (panel === undefined) {
      panel = panelFor(section)
      button.setAttribute('aria-controls', panel.id)
      button.after(panel)
    } else panel.hidden = !panel.hidden
    button.setAttribute('aria-expanded', String(!panel.hidden))
    if (!panel.hidden) panel.querySelector('input')?.focus()
  })
  section.querySelector('.samples > figure:not([data-language])')?.before(button)
}
