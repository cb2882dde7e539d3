/**
 * Writes what is generated and committed: the payloads' JSON Schemas and checks, the named schemas of the OpenAPI document,
 * `openapi.json`, asked of the service itself, and what is made of it: the page at `/docs` and the collection for HTTP clients.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import '../packages/protocol/schemas/write.ts'

// The service runs on what has just been written.
const { createLogger, createService, loadPeppers } = await import('@property-events/server')
const { temporaryStore } = await import('../packages/server/test/support/temporary-store.ts')

const root = join(import.meta.dirname, '..')
const storage = await temporaryStore()
const service = await createService({
  storage,
  peppers: loadPeppers({ folder: undefined, given: undefined }),
  log: createLogger({ level: 'silent' }),
  host: '127.0.0.1',
  port: 0,
  metrics: undefined,
})
const response = await fetch(`${service.url}/openapi.json`)
if (!response.ok) throw new Error(`the service answered ${response.status}`)
const text = await response.text()
// As it is served it has no line breaks; as it is committed, its changes can be read.
writeFileSync(join(root, 'openapi.json'), `${JSON.stringify(JSON.parse(text), null, 2)}\n`)
await service.close()
await storage.close()

// What it shows is what has just been written.
const { referenceFiles } = await import('./reference/index.ts')
const { collectionText } = await import('./reference/collection.ts')
writeFileSync(join(root, 'docs/property-events.collection.json'), collectionText(text))
const { html, policy } = referenceFiles(text)
const folder = join(root, 'packages/server/src/http/openapi/reference')
writeFileSync(join(folder, 'page.html'), html)
writeFileSync(join(folder, 'policy.json'), policy)
