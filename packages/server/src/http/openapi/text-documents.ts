/** `GET /llms.txt` and `/llms-full.txt`: for programs that read text (D21). They need no key, and no document lists them. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import type { Operation } from '../operation.ts'
import { withoutParameters } from '../requests/query.ts'
import { openOperation } from './description-routes.ts'
import { documentCall, madeOnce, staticDocument } from './static-document.ts'
import type { LimitsContext } from '../limits.ts'

const mediaType = 'text/plain'

/** What a reader needs for a first request, and where the rest is. */
const guide = `# Property Events

> An event feed service for UK property listings, sales and lettings. Agencies publish every change to a property or contact; consumers read the feed and keep copies that are right.

Send the key in the header \`x-api-key\`. Bodies are JSON in UTF-8. Errors are problem documents with a stable \`code\`; wait as \`Retry-After\` says after 429 and 503.

- [OpenAPI document](openapi.json): every operation, parameter, field and problem
- [Reference](docs): the same as a page, with samples in curl, TypeScript and PHP
- [All documents](llms-full.txt): the protocol, and guides for publishers, consumers and operators, in one file of Markdown

## Keep a copy

1. \`GET /v1/property-events/snapshot\` has the latest event of each property, one a line. Keep the headers \`x-feed-head\` and \`x-feed-epoch\`.
2. \`GET /v1/property-events?after=HEAD&epoch=EPOCH&wait=25\` has what is new; continue with \`after\` = \`next\`. Store it with the rows, in one transaction.
3. An event holds the whole property in \`payload\`, a string of JSON. Only the event with the highest \`sequenceNumber\` of a property counts; \`PropertyUnpublished\` removes it.
4. After 409 \`cursor_beyond_head\` or \`epoch_changed\`, start again from a snapshot.

A client that knows only the contract's list reads \`GET /api/func/api/v1/events/getevents?page=1&pageSize=100\` to its last page, and later sends \`x-feed-complete-until\` of its last window as \`from\`.

## Publish

\`POST /v1/property-events\` with \`{"id": "…", "payload": {"agent_ref": "…", "published": true, …}}\`: the whole property, with every change. The same \`id\` makes it safe to send again. \`?dryRun=true\` checks and stores nothing.
`

/** The two operations. Neither text is in memory before it is asked for. */
export function textDocuments(context: LimitsContext): readonly Operation[] {
  const texts = { '/llms.txt': () => guide, '/llms-full.txt': allDocuments }
  return Object.entries(texts).map(([path, read]) => {
    const document = madeOnce(() => staticDocument(`${mediaType}; charset=utf-8`, read()))
    return openOperation({
      path,
      mediaType,
      operationId: path === '/llms.txt' ? 'getGuideText' : 'getDocumentsText',
      summary: 'The documents as text',
      description: 'For programs that read text. Needs no key.',
      ok: 'The text.',
      prepare: withoutParameters(context.limits, () => documentCall(document)),
    })
  })
}

/** As the build of the package has written them, or else those of the clone. */
function allDocuments(): string {
  const built = new URL('./reference/documents.md', import.meta.url)
  return existsSync(built)
    ? readFileSync(built, 'utf8')
    : joinDocuments(new URL('../../../../../', import.meta.url))
}

/** README, PROTOCOL, SECURITY and all of docs/ but the decisions, each after its path. `root` ends with a slash. */
export function joinDocuments(root: URL): string {
  const pages = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.md') && !path.startsWith('docs/decisions/'))
    .toSorted()
  return ['README.md', 'PROTOCOL.md', 'SECURITY.md', ...pages]
    .map((path) => `<!-- ${path} -->\n\n${readFileSync(new URL(path, root), 'utf8').trimEnd()}\n`)
    .join('\n')
}
