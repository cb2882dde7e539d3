/** What a view is. The table of them is index.ts beside this file. */
import type { Scope } from '../session/access.ts'
import type { IconName } from '../parts/icon-drawings.ts'

export interface ViewProps {
  /** The parts of the address that the path names: `{ tenantId, agentRef }`. */
  readonly parts: Readonly<Record<string, string | undefined>>
  /** The decoded query. */
  readonly query: Readonly<Record<string, string | undefined>>
}

interface Tab {
  readonly name: string
  readonly icon: IconName
  /** One of `paths`, for a view of an agency with its id. */
  readonly path: (tenantId: string) => string
  /** Shown only with one of these scopes, where others arrive at the view as well. */
  readonly needs?: readonly Scope[]
}

export interface View {
  /** Below the console's base, with `:name` for a part. It has no dot. Views of an agency begin with `/tenants/`. */
  readonly path: string
  /** For the title of the tab of the browser. */
  readonly title: string
  /** The scopes of which a session needs one: in the agency, or as an operator. Without this, anybody may see it. */
  readonly needs?: (parts: ViewProps['parts']) => readonly Scope[]
  readonly tabs?: readonly Tab[]
}
