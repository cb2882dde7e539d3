/** Targets of `sync` that are tables: `sqlite:FILE` and `postgres://…`. */
import { plainText } from '@property-events/protocol'
import { TablesRefusal } from './refusal.ts'

export type TableTarget =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** `undefined`: the target is a folder or a file. Throws a `TablesRefusal` for one that begins as tables do and names none. */
export function readTableTarget(target: string): TableTarget | undefined {
  if (target.startsWith('sqlite:')) {
    const file = target.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')
    if (file !== '' && !file.endsWith('/') && !file.startsWith('//') && !file.includes('\0')) {
      return { kind: 'sqlite', file }
    }
    throw new TablesRefusal('After sqlite: comes the file of the database, such as sqlite:website.db.')
  }
  if (!/^postgres(ql)?:/.test(target)) return undefined
  if (/^postgres(ql)?:\/\/\S*$/.test(target) && URL.canParse(target)) return { kind: 'postgres', url: target }
  throw new TablesRefusal(
    'The address of a database looks like postgres://user@host:5432/database; characters such as @ and / in a password are written as %40 and %2F.',
  )
}

/** The target for messages: without user, password and parameters. */
export function shownTarget(target: TableTarget): string {
  if (target.kind === 'sqlite') return plainText(target.file)
  const { host, pathname } = new URL(target.url)
  return plainText(`postgres://${host}${pathname}`)
}
