/** Writes what is generated and committed: `openapi.json`, asked of the service itself, and the payloads' JSON Schemas. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogues, payloadSchemaFiles } from '@property-events/protocol'
import { createLogger, createService, loadPepper, openStorage } from '@property-events/server'

const root = join(import.meta.dirname, '..')
const storage = await openStorage({ kind: 'memory', create: true, catalogue: catalogues.default })
const service = await createService({
  storage,
  peppers: [loadPepper({ folder: undefined, given: undefined })],
  log: createLogger({ level: 'silent' }),
  host: '127.0.0.1',
  port: 0,
  metrics: undefined,
})
const response = await fetch(`${service.url}/openapi.json`)
if (!response.ok) throw new Error(`the service answered ${response.status}`)
writeFileSync(join(root, 'openapi.json'), await response.text())
await service.close()
await storage.close()
for (const { name, text } of payloadSchemaFiles()) {
  writeFileSync(join(root, 'packages/protocol/schemas', name), text)
}
