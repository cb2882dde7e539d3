/** A console that is three small files, and a browser that works with it: what it sends, and what it keeps. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { call } from './http-client.ts'
import type { Answer, Call } from './http-client.ts'

const page = `<!doctype html>
<html lang="en">
<head>
<meta name="console-root" content="/console/">
<link rel="stylesheet" href="/console/console.css">
<script type="module" src="/console/console.js"></script>
</head>
</html>
`

/** A folder with the files of a built console. */
export function consoleFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-console-'))
  writeFileSync(join(folder, 'index.html'), page)
  writeFileSync(join(folder, 'console.js'), `document.title = 'Console'\n`.repeat(100))
  writeFileSync(join(folder, 'console.css'), 'body { margin: 0 }\n')
  return folder
}

export interface SignedIn {
  readonly cookie: string
  readonly half: string
  readonly answer: Answer
}

interface Target {
  readonly port: number
  readonly basePath?: string
}

/** What a browser sends from the console's own page. */
export const fromOwnPage = { 'sec-fetch-site': 'same-origin' } as const

const json = { 'content-type': 'application/json' } as const

export function postSession(
  { port, basePath = '' }: Target,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return call({ port }, `${basePath}/console/session`, {
    method: 'POST',
    headers: { ...json, ...fromOwnPage, ...headers },
    body: JSON.stringify(body),
  })
}

/** `proof`: a key, or the secret of a link. */
export async function signIn(target: Target, proof: object): Promise<SignedIn> {
  const answer = await postSession(target, proof)
  if (answer.status !== 201) throw new Error(`signing in was answered ${answer.status}: ${answer.text}`)
  const { session }: { readonly session: string } = JSON.parse(answer.text)
  return { cookie: cookieOf(answer), half: session, answer }
}

/** As a browser would send it back. */
export function cookieOf({ headers }: Answer): string {
  return headers['set-cookie']?.[0]?.split(';')[0] ?? ''
}

/** The headers of a request of the page. */
export function sessionHeaders({ cookie, half }: Pick<SignedIn, 'cookie' | 'half'>) {
  return { ...fromOwnPage, cookie, 'x-console-session': half }
}

/** A request at the door: `path` as it is in front of it. */
export function atDoor(
  { port, basePath = '' }: Target,
  session: Pick<SignedIn, 'cookie' | 'half'>,
  path: string,
  options: Call & { readonly json?: unknown } = {},
): Promise<Answer> {
  const { json: value, ...rest } = options
  return call({ port }, `${basePath}/console/api${path}`, {
    ...rest,
    ...(value === undefined ? {} : { body: JSON.stringify(value) }),
    headers: { ...(value === undefined ? {} : json), ...sessionHeaders(session), ...options.headers },
  })
}

export function getSession(target: Target, session: Pick<SignedIn, 'cookie' | 'half'>): Promise<Answer> {
  const { port, basePath = '' } = target
  return call({ port }, `${basePath}/console/session`, { headers: sessionHeaders(session) })
}
