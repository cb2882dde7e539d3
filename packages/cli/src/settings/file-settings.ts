/** Files and folders outside the store: part of the settings of `serve`. */
import { resolve } from 'node:path'
import { text } from './setting.ts'

export const fileSettings = {
  erasures: text(
    {
      name: 'erasures',
      argument: 'file',
      description:
        'file outside the store that lists what was erased, so that it can be erased again after a restore',
      fallbackWords: 'none',
      expected: 'the path of a file',
    },
    undefined,
    (path) => (path === '' || path.includes('\0') ? undefined : resolve(path)),
  ),
  tenantExports: text(
    {
      name: 'tenant-exports',
      argument: 'folder',
      description: 'folder to which a tenant is exported before it is deleted over HTTP',
      fallbackWords: 'none: nothing is exported',
      expected: 'the path of a folder',
    },
    undefined,
    (path) => (path === '' || path.includes('\0') ? undefined : resolve(path)),
  ),
}
