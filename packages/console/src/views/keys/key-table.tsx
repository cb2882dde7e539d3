/** The list of keys. */
import { Age } from '../../parts/age.tsx'
import { Table } from '../../parts/table.tsx'
import type { Column } from '../../parts/table.tsx'
import { signedIn } from '../../session/session.ts'
import { now } from '../../state/clock.ts'
import { oneLine } from '../../words/plain.ts'
import type { KeyAction } from './key-action.ts'
import { givesAllOf } from './key-scopes.ts'
import { hasEnded, keyPrefix, mayWords, stateWords } from './key-state.ts'
import type { KeyLine } from './key-state.ts'
import { UsageBars } from './usage-bars.tsx'
import { useUsages } from './use-usages.ts'

interface Props {
  readonly lines: readonly KeyLine[]
  /** The id of the key that the user came for. */
  readonly sought: string | undefined
  readonly tenantId: string | undefined
  readonly act: ((action: KeyAction) => void) | undefined
  readonly look: (action: KeyAction) => void
}

export function KeyTable({ lines, sought, tenantId, act, look }: Props) {
  const usages = useUsages(lines.map(({ key }) => key.keyId))
  const columns: readonly Column<KeyLine>[] = [
    { name: 'Label', isName: true, cell: (line) => <Label line={line} /> },
    { name: 'Key', cell: ({ key }) => <code title={key.keyId}>{keyPrefix(key)}</code> },
    { name: 'May', cell: (line) => <May line={line} tenantId={tenantId} /> },
    { name: 'Last used', cell: ({ key }) => <Age at={key.lastUsedAt} /> },
    {
      name: '30 days',
      isWide: true,
      cell: ({ key }) => (
        <button type="button" class="plain" onClick={() => look({ kind: 'usage', key })}>
          <UsageBars usage={usages.get(key.keyId)} />
          <span class="unseen"> of {oneLine(key.label, 80)}</span>
        </button>
      ),
    },
    {
      name: 'State',
      cell: ({ state }) => <span class={`state ${state.kind}`}>{stateWords(state, now.value)}</span>,
    },
    { name: 'What to do', cell: (line) => <Actions line={line} act={act} /> },
  ]
  return (
    <Table
      caption="Keys"
      columns={columns}
      rows={lines}
      keyOf={({ key }) => key.keyId}
      classOf={({ isOld }) => (isOld ? 'old' : undefined)}
      isSought={({ key }) => key.keyId === sought}
    />
  )
}

function Label({ line: { key, isOld } }: { readonly line: KeyLine }) {
  const label = oneLine(key.label, 80) || '(no label)'
  return isOld ? <>└ {label}, the key before</> : <>{label}</>
}

function May({ line: { key }, tenantId }: { readonly line: KeyLine; readonly tenantId: string | undefined }) {
  const grant = key.grants.find((one) => one.tenantId === tenantId)
  const { branches = [], contact } = grant ?? {}
  return (
    <>
      {mayWords(key, tenantId)}
      {branches.length > 0 && (
        <span
          class="quiet"
          title={branches
            .map((one) => oneLine(one, 40))
            .join(', ')
            .slice(0, 2_000)}
        >
          {' '}
          ·{' '}
          {branches.length === 1 ? `branch ${oneLine(branches[0] ?? '', 40)}` : `${branches.length} branches`}
        </span>
      )}
      {contact !== undefined && <span class="quiet"> · some contacts or fields alone</span>}
      {key.networks.length > 0 && (
        <span class="quiet" title={key.networks.join(', ')}>
          {' '}
          · from {key.networks.length === 1 ? key.networks[0] : `${key.networks.length} networks`}
        </span>
      )}
    </>
  )
}

function Actions({ line: { key, state }, act }: { readonly line: KeyLine; readonly act: Props['act'] }) {
  if (act === undefined || hasEnded(state)) return null
  const label = oneLine(key.label, 80)
  const kinds =
    state.kind === 'replaced' || !givesAllOf(signedIn().key, key) ? [] : (['change', 'rotate'] as const)
  return (
    <span class="actions">
      {kinds.map((kind) => {
        const name = kind === 'change' ? 'Change' : 'Rotate'
        return (
          <button key={kind} type="button" aria-label={`${name} ${label}`} onClick={() => act({ kind, key })}>
            {name}
          </button>
        )
      })}
      <button
        type="button"
        aria-label={state.kind === 'replaced' ? `End the key before of ${label} now` : `Revoke ${label}`}
        onClick={() => act({ kind: 'revoke', key })}
      >
        {state.kind === 'replaced' ? 'End now' : 'Revoke'}
      </button>
    </span>
  )
}
