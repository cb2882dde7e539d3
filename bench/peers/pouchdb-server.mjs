/**
 * express-pouchdb as a program: `node pouchdb-server.mjs <folder of node_modules> <folder of the data> <documents.ndjson>`.
 * Fills the database `feed` from the documents when it is empty, then serves it.
 */
import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const [packages, data, documents] = process.argv.slice(2)
const require = createRequire(join(packages, 'package.json'))
const PouchDB = require('pouchdb-node').defaults({ prefix: `${data}/` })
// The program comes first, because it registers the databases that are opened after it.
const app = require('express')()
app.use('/', require('express-pouchdb')(PouchDB, { mode: 'minimumForPouchDB', inMemoryConfig: true }))
const feed = new PouchDB('feed')
if ((await feed.info()).doc_count === 0) {
  let batch = []
  for await (const line of createInterface({ input: createReadStream(documents) })) {
    batch.push(JSON.parse(line))
    if (batch.length === 500) await feed.bulkDocs(batch.splice(0))
  }
  await feed.bulkDocs(batch)
}
const server = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
