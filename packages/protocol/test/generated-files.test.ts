/** What is made of the schemas and code lists, and committed: nobody writes a shape of the wire a second time. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import {
  changesModule,
  clientWireModule,
  codeNamesModule,
  codeNamesPhp,
  listingTablesPhp,
  namedSchemasText,
  problemCodesModule,
  payloadTypesModule,
  wireModule,
} from '../schemas/index.ts'
import { wireTypes } from '../schemas/generators/wire-types.ts'

const files: readonly (readonly [path: string, text: string])[] = [
  ['packages/protocol/schemas/named-schemas.json', namedSchemasText()],
  ['packages/protocol/schemas/wire.ts', wireModule()],
  ['packages/client/src/wire.ts', clientWireModule()],
  ['packages/client/src/payload/changes.ts', changesModule()],
  ['packages/client/src/payload/payload-types.ts', payloadTypesModule()],
  ['packages/client/src/problem-codes.ts', problemCodesModule()],
  ['packages/client/src/listing/code-names.ts', codeNamesModule()],
  ['examples/php/CodeNames.php', codeNamesPhp() + listingTablesPhp()],
]

describe('a generated file', () => {
  for (const [path, text] of files) {
    it(`${path} is what the schemas and code lists say today (D21)`, () => {
      const committed = readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
      assert.equal(committed, text, 'Stale: run `npm run openapi`')
    })
  }
})

describe('the types of the wire', () => {
  it('say of each member what its schema says, and whether it can be absent or null', () => {
    assert.match(
      wireTypes(['Hold']),
      /\/\*\* Your reference for the case\. Never a person’s name\. \*\/\n {2}readonly caseRef\?: string \| null\n/,
    )
  })

  it('close a list of values unless its description says that further ones may come (PROTOCOL §9)', () => {
    assert.match(wireTypes(['Hold']), /readonly state: 'active' \| 'expired' \| 'ended'\n/)
    assert.match(wireTypes(['Consumers']), /'off' \| \(string & \{\}\) \| null\n/)
  })

  it('let whoever sends a value write `undefined` where the member may be left out', () => {
    assert.match(wireTypes(['HoldRequest']), /readonly caseRef\?: string \| null \| undefined\n/)
  })

  it('name what they are made of, and nothing else', () => {
    const names = [...wireTypes(['Erasure']).matchAll(/^export \w+ (\w+)/gm)].map(([, name]) => name)
    assert.deepEqual(names, ['Erasure', 'FeedName', 'ErasureRecipient', 'UnknownTime'])
  })
})
