/** The house as ARCHITECTURE.md draws it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import {
  architectureFile,
  architectureWith,
  circlesIn,
  folderSizes,
  importsOf,
  picturesOf,
} from '../../../../scripts/rooms.ts'

const filesAtMost = 25
const imports = importsOf()

describe('the rooms of the house', () => {
  it('are drawn in ARCHITECTURE.md as they are: npm run rooms', () => {
    assert.ok(imports.size > 300)
    assert.equal(readFileSync(architectureFile, 'utf8'), architectureWith(picturesOf(imports)))
  })

  it('have no files that use each other, in types neither', () => {
    assert.deepEqual(circlesIn(imports), [])
  })

  it('are small enough to look through', () => {
    const crowded = [...folderSizes(imports)].filter(([, size]) => size > filesAtMost)
    assert.deepEqual(crowded, [])
  })

  it('would show a circle and a crowded folder', () => {
    const planted = new Map([
      ['packages/x/src/a.ts', ['packages/x/src/b.ts']],
      ['packages/x/src/b.ts', ['packages/x/src/c.ts']],
      ['packages/x/src/c.ts', ['packages/x/src/a.ts']],
    ])
    assert.deepEqual(circlesIn(planted), [[...planted.keys()]])
    assert.deepEqual([...folderSizes(planted)], [['packages/x/src', 3]])
  })
})
