/** The page at `/docs`, as `npm run openapi` has written it (scripts/reference), with its policy for browsers. */
import { readFileSync } from 'node:fs'
import { pagePolicy, staticDocument } from './static-document.ts'
import type { StaticDocument } from './static-document.ts'

interface Policy {
  readonly style: readonly string[]
  readonly script: readonly string[]
}

/** Reads the file instead of importing it: an imported file stays in memory, and the document is made once. */
export function readReferencePage(): StaticDocument {
  const policy: Policy = JSON.parse(readText('policy.json'))
  return staticDocument('text/html; charset=utf-8', readText('page.html'), {
    'content-security-policy': policyText(policy),
    'referrer-policy': 'no-referrer',
  })
}

/**
 * The page may use its own style and scripts, identified by their hashes, and send requests to this service alone, for "try it". Nothing
 * else is loaded or run.
 */
function policyText({ style, script }: Policy): string {
  const hashes = (list: readonly string[]): string => list.map((hash) => `'${hash}'`).join(' ')
  return pagePolicy(
    `script-src ${hashes(script)}`,
    `style-src ${hashes(style)}`,
    'img-src data:',
    `connect-src 'self'`,
  )
}

function readText(name: string): string {
  return readFileSync(new URL(`./reference/${name}`, import.meta.url), 'utf8')
}
