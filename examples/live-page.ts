/**
 * A web page that shows changes as they happen. Its server holds the key and one stream, and tells all browsers what comes:
 * PROPERTY_EVENTS_URL=… PROPERTY_EVENTS_KEY=… node live-page.ts, then open http://127.0.0.1:3000
 */
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

const { PROPERTY_EVENTS_URL = 'http://127.0.0.1:8080', PROPERTY_EVENTS_KEY = '', PORT = '3000' } = process.env
if (PROPERTY_EVENTS_KEY === '') {
  console.error('No API key is given: set PROPERTY_EVENTS_KEY.')
  process.exit(1)
}

/** What browsers that were away for a moment are told again. */
const recent: { readonly id: string; readonly text: string }[] = []
const mostRecent = 200
const mostUnread = 2 ** 20
const browsers = new Set<ServerResponse>()

function tell(text: string, id: string): void {
  recent.push({ id, text })
  if (recent.length > mostRecent) recent.shift()
  for (const browser of browsers) {
    // One that takes nothing may not fill the memory: it connects again, and says what it had last.
    if (browser.writableLength > mostUnread) browser.destroy()
    else browser.write(text)
  }
}

/** Goes on where it was, for ever. */
async function follow(): Promise<void> {
  let lastId: string | undefined
  for (;;) {
    lastId = await readStream(lastId).catch(() => lastId)
    await delay(2_000)
  }
}

/** Reads until the stream ends, and returns the last id; `undefined`: numbers mean something else now. */
async function readStream(from: string | undefined): Promise<string | undefined> {
  const headers = {
    'x-api-key': PROPERTY_EVENTS_KEY,
    ...(from === undefined ? {} : { 'last-event-id': from }),
  }
  const answer = await fetch(`${PROPERTY_EVENTS_URL}/v1/property-events/stream?after=head`, { headers })
  if (answer.status === 409) return undefined
  if (!answer.ok || answer.body === null) throw new Error(`the feed answered ${answer.status}`)
  let lastId = from
  let rest = ''
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    const messages = (rest + chunk).split('\n\n')
    rest = messages.pop() ?? ''
    for (const message of messages) {
      const [, id] = /^id: (.+)$/m.exec(message) ?? []
      if (id === undefined) continue
      lastId = id
      const [, data] = /^data: (.+)$/m.exec(message) ?? []
      const isEvent = data !== undefined && !message.includes('\nevent: ')
      tell(isEvent ? `id: ${id}\ndata: ${forVisitors(data)}\n\n` : `${message}\n\n`, id)
    }
  }
  return lastId
}

/** An event has everything that the key may read. Of it, a visitor sees this. */
function forVisitors(data: string): string {
  const event: { eventTypeShortCode: string; payload: string } = JSON.parse(data)
  const home: { address?: { display_address?: string } } = JSON.parse(event.payload)
  return JSON.stringify({ what: event.eventTypeShortCode, where: home.address?.display_address })
}

/** A browser that connects again says what it had last; one that was away for too long has to load the page again. */
function welcome(lastId: string | undefined, browser: ServerResponse): void {
  const had = recent.findIndex(({ id }) => id === lastId)
  browser.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  browser.write('retry: 2000\n\n')
  if (lastId !== undefined && had === -1) browser.write('event: reload\ndata: {}\n\n')
  else if (lastId !== undefined) for (const { text } of recent.slice(had + 1)) browser.write(text)
  browsers.add(browser)
  browser.on('close', () => browsers.delete(browser))
}

const page = `<!doctype html><meta charset="utf-8"><title>Changes</title><ul></ul><script>
  const changes = new EventSource('/changes')
  changes.onmessage = ({ data }) => {
    const { what, where } = JSON.parse(data)
    const item = document.createElement('li')
    item.textContent = what + ' ' + (where ?? '')
    document.querySelector('ul').prepend(item)
  }
  changes.addEventListener('reload', () => location.reload())
</script>`

createServer((request, response) => {
  const lastId = request.headers['last-event-id']
  if (request.url === '/changes') welcome(typeof lastId === 'string' ? lastId : undefined, response)
  else response.setHeader('content-type', 'text/html; charset=utf-8').end(page)
}).listen(Number(PORT), '127.0.0.1')

await follow()
