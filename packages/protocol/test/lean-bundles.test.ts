/** What clients and the console have of the schemas: types, which cost nothing when they run. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '../../..')

/** Each with the folders that its modules may come from. */
const bundles: Readonly<Record<string, readonly string[]>> = {
  'client/src/index.ts': ['packages/client/src/'],
  'client/src/listing/index.ts': ['packages/client/src/'],
  'client/src/node.ts': ['packages/client/src/'],
  'protocol/src/plain.ts': ['packages/protocol/src/'],
  'console/src/main.tsx': [
    'packages/console/src/',
    'packages/client/src/',
    'packages/protocol/src/',
    'node_modules/@preact/',
    'node_modules/preact/',
    'node_modules/preact-iso/',
  ],
}

/** The modules of a bundle that come from elsewhere. `further` is a line that is added to it. */
async function foreignModules(entry: string, further = ''): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    stdin: { contents: `import './packages/${entry}'\n${further}`, resolveDir: root, loader: 'ts' },
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    loader: { '.css': 'empty' },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    logLevel: 'silent',
  })
  const modules = Object.keys(metafile.inputs).filter((path) => path !== '<stdin>' && !path.endsWith('.css'))
  assert.ok(modules.includes(`packages/${entry}`))
  return modules.filter((path) => !bundles[entry]?.some((folder) => path.startsWith(folder)))
}

describe('a bundle', () => {
  for (const entry of Object.keys(bundles)) {
    it(`of ${entry} has neither TypeBox nor a schema: what describes the wire are types alone`, async () => {
      assert.deepEqual(await foreignModules(entry), [])
    })
  }

  it('of the client or the console is refused when anything in it imports one', async () => {
    for (const entry of ['client/src/index.ts', 'console/src/main.tsx']) {
      const typebox = await foreignModules(entry, "import Type from 'typebox'\nconsole.log(Type)")
      assert.ok(typebox.some((path) => path.startsWith('node_modules/typebox/')))
      const schema = await foreignModules(entry, "import './packages/protocol/schemas/hold.ts'")
      assert.ok(schema.includes('packages/protocol/schemas/hold.ts'))
    }
  })
})
