/** The list of keys. */
import { useEffect, useState } from 'preact/hooks'
import { Age } from '../../parts/age.tsx'
import { Table } from '../../parts/table.tsx'
import type { Column } from '../../parts/table.tsx'
import type { Key, KeyUsage } from '@property-events/protocol/wire'
import { call } from '../../service/call.ts'
import { readUsage } from '../../service/operations/keys.ts'
import { signedIn } from '../../session/session.ts'
import { now } from '../../state/clock.ts'
import { oneLine } from '../../words/plain.ts'
import { givesAllOf } from './key-scopes.ts'
import { hasEnded, keyPrefix, scopeWords, stateWords } from './key-state.ts'
import type { KeyLine } from './key-state.ts'
import { usageBars, usageDays, usageWords } from './usage.ts'

/** The dialogs that open over the list of keys. */
export type KeyAction =
  | { readonly kind: 'issue' }
  | { readonly kind: 'change' | 'rotate' | 'revoke' | 'usage'; readonly key: Key }

interface Props {
  readonly lines: readonly KeyLine[]
  /** The id of the key that the user came for. */
  readonly target: string | undefined
  readonly tenantId: string | undefined
  readonly act: ((action: KeyAction) => void) | undefined
  readonly show: (action: KeyAction) => void
}

export function KeyTable({ lines, target, tenantId, act, show }: Props) {
  const usages = useUsages(lines.map(({ key }) => key.keyId))
  const columns: readonly Column<KeyLine>[] = [
    { name: 'Label', isName: true, cell: (line) => <Label line={line} /> },
    { name: 'Key', isShort: true, cell: ({ key }) => <code title={key.keyId}>{keyPrefix(key)}</code> },
    { name: 'Scopes', cell: (line) => <Scopes line={line} tenantId={tenantId} /> },
    { name: 'Last used', isShort: true, cell: ({ key }) => <Age at={key.lastUsedAt} /> },
    {
      name: '30 days',
      isWide: true,
      cell: ({ key }) => (
        <button type="button" class="plain" onClick={() => show({ kind: 'usage', key })}>
          <UsageBars usage={usages.get(key.keyId)} />
          <span class="unseen"> of {oneLine(key.label, 80)}</span>
        </button>
      ),
    },
    {
      name: 'State',
      isShort: true,
      cell: ({ state }) => <span class={`state ${state.kind}`}>{stateWords(state, now.value)}</span>,
    },
    { name: 'Actions', isShort: true, cell: (line) => <Actions line={line} act={act} /> },
  ]
  return (
    <Table
      caption="Keys"
      columns={columns}
      rows={lines}
      keyOf={({ key }) => key.keyId}
      classOf={({ isOld }) => (isOld ? 'old' : undefined)}
      isTarget={({ key }) => key.keyId === target}
    />
  )
}

function Label({ line: { key, isOld } }: { readonly line: KeyLine }) {
  const label = oneLine(key.label, 80) || '(no label)'
  return isOld ? <>└ {label} (previous key)</> : <>{label}</>
}

function Scopes({
  line: { key },
  tenantId,
}: {
  readonly line: KeyLine
  readonly tenantId: string | undefined
}) {
  const grant = key.grants.find((one) => one.tenantId === tenantId)
  const { branches = [], contact } = grant ?? {}
  return (
    <>
      {scopeWords(key, tenantId)}
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
      {contact !== undefined && <span class="quiet"> · some contacts or fields only</span>}
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
        class="danger"
        aria-label={state.kind === 'replaced' ? `End the previous key of ${label} now` : `Revoke ${label}`}
        onClick={() => act({ kind: 'revoke', key })}
      >
        {state.kind === 'replaced' ? 'End now' : 'Revoke'}
      </button>
    </span>
  )
}

/** A missing key is being requested; `undefined` for a key: the service does not say. */
type Usages = ReadonlyMap<string, KeyUsage | undefined>

/** The most keys to ask for: a list has at most 200, and rarely more than ten. */
const mostAsked = 50

/** How the keys of a list were used, requested one after another so that a long list causes no burst. */
function useUsages(keyIds: readonly string[]): Usages {
  const [usages, setUsages] = useState<Usages>(new Map())
  const wanted = keyIds.slice(0, mostAsked).join(' ')
  useEffect(() => {
    const controller = new AbortController()
    void read(controller.signal)
    return () => controller.abort()
    async function read(signal: AbortSignal): Promise<void> {
      for (const keyId of wanted.split(' ').filter((id) => id !== '' && !usages.has(id))) {
        const outcome = await call(readUsage(keyId), { signal })
        if (signal.aborted) return
        const usage = outcome.kind === 'answer' ? outcome.value : undefined
        setUsages((before) => new Map([...before, [keyId, usage]]))
      }
    }
  }, [wanted])
  return usages
}

/** The requests of a key, day by day, with refused ones in another colour. */
const box = { width: 120, height: 20 }

/** A day's count can be half a minute old, so that the bars change only with the day. */
function UsageBars({ usage }: { readonly usage: KeyUsage | undefined }) {
  if (usage === undefined) return <span class="quiet">…</span>
  if (usage.items.length === 0) return <span class="quiet">no requests</span>
  const days = usageDays(usage.items, now.value)
  return (
    <svg class="usage" viewBox={`0 0 ${box.width} ${box.height}`} role="img" aria-label={usageWords(days)}>
      <line x2={box.width} y1={box.height} y2={box.height} />
      {usageBars(days, box).map(({ day, x, y, width, height, refusedHeight }) => (
        <g key={day.day}>
          <rect x={x} y={y} width={width} height={height} />
          {refusedHeight > 0 && (
            <rect class="refused" x={x} y={box.height - refusedHeight} width={width} height={refusedHeight} />
          )}
        </g>
      ))}
    </svg>
  )
}
