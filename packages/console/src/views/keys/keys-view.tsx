/** The keys of an agency, or of the operators: who uses them, which ones end, and how to create others. */
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { Answer, Empty } from '../../parts/answer.tsx'
import type { Key } from '@property-events/protocol/wire'
import { useAnswer } from '../../service/use-answer.ts'
import { getKey, listKeys } from '../../service/operations/keys.ts'
import { mayAdminister } from '../../session/access.ts'
import { signedIn } from '../../session/session.ts'
import { now } from '../../state/clock.ts'
import { counted } from '../../words/numbers.ts'
import type { ViewProps } from '../view.ts'
import { ChangeDialog, IssueDialog, RevokeDialog, RotateDialog } from './key-dialogs.tsx'
import { hasEnded, keyLines, keyState } from './key-state.ts'
import { KeyTable } from './key-table.tsx'
import type { KeyAction } from './key-table.tsx'
import { UsageDialog } from './usage-dialog.tsx'
import './keys.css'

/** The most keys in an answer: more than any agency uses. */
const limit = 200

export function KeysView({ parts: { tenantId }, query }: ViewProps) {
  const { path, route } = useLocation()
  const session = signedIn()
  const keys = useAnswer(listKeys({ tenant: tenantId, limit, after: query['after'] }))
  const [action, act] = useState<KeyAction>()
  const target = query['key']
  const isListed = target === undefined || keys.value?.items.some(({ keyId }) => keyId === target) !== false
  // It may be on a later page, or open several agencies without being an operator's.
  const found = useAnswer(isListed ? undefined : getKey(target))
  const isEnded = query['ended'] === 'shown'
  const mayManage = mayAdminister(session.key, 'admin:manage', tenantId)
  const close = (): void => act(undefined)
  const closeAndAsk = (): void => {
    close()
    keys.askAgain()
  }
  return (
    <article class="keys">
      <header>
        <h1>{tenantId === undefined ? 'Operator keys' : 'Keys'}</h1>
        {mayManage ? (
          <button type="button" class="main" onClick={() => act({ kind: 'issue' })}>
            Issue a key
          </button>
        ) : (
          <p class="quiet">
            To issue or change keys, sign in with{' '}
            {tenantId === undefined ? 'admin:manage' : 'tenant:manage or admin:manage'}.
          </p>
        )}
      </header>
      <Answer of={keys} what="the keys">
        {({ items, next }) => {
          const listed = tenantId === undefined ? items.filter(({ operator }) => operator) : items
          const shown = withTarget(listed, target, [
            ...items,
            ...(found.value === undefined ? [] : [found.value]),
          ])
          return (
            <>
              <Filter
                all={shown}
                isEnded={isEnded}
                show={(on) => route(on ? `${path}?ended=shown` : path, true)}
              />
              <KeyList
                keys={shown}
                isEnded={isEnded}
                target={target}
                tenantId={tenantId}
                act={mayManage ? act : undefined}
                show={act}
              />
              {next !== null && (
                <a href={`${path}?after=${encodeURIComponent(next)}${isEnded ? '&ended=shown' : ''}`}>
                  Next page
                </a>
              )}
            </>
          )
        }}
      </Answer>
      <Dialogs action={action} tenantId={tenantId} close={close} closeAndAsk={closeAndAsk} />
    </article>
  )
}

interface DialogsProps {
  readonly action: KeyAction | undefined
  readonly tenantId: string | undefined
  readonly close: () => void
  /** After a change. */
  readonly closeAndAsk: () => void
}

function Dialogs({ action, tenantId, close, closeAndAsk }: DialogsProps) {
  if (action === undefined) return null
  if (action.kind === 'issue') return <IssueDialog tenantId={tenantId} onClose={closeAndAsk} />
  const { kind, key } = action
  if (kind === 'change') return <ChangeDialog keyToChange={key} onClose={closeAndAsk} />
  if (kind === 'rotate') return <RotateDialog keyToReplace={key} tenantId={tenantId} onClose={closeAndAsk} />
  if (kind === 'revoke') return <RevokeDialog keyToRevoke={key} onClose={closeAndAsk} />
  return <UsageDialog keyToShow={key} onClose={close} />
}

/** The key that the user came for, too, wherever it was found. */
function withTarget(
  listed: readonly Key[],
  target: string | undefined,
  among: readonly Key[],
): readonly Key[] {
  const isThere = listed.some(({ keyId }) => keyId === target)
  return isThere ? listed : [...listed, ...among.filter(({ keyId }) => keyId === target)]
}

interface FilterProps {
  readonly all: readonly Key[]
  readonly isEnded: boolean
  readonly show: (on: boolean) => void
}

function Filter({ all, isEnded, show }: FilterProps) {
  const ended = all.filter((key) => hasEnded(keyState(key, undefined, now.value))).length
  if (ended === 0) return null
  return (
    <p>
      <label>
        <input
          type="checkbox"
          checked={isEnded}
          onChange={({ currentTarget }) => show(currentTarget.checked)}
        />{' '}
        Show {counted(ended, 'ended key')}
      </label>
    </p>
  )
}

interface ListProps {
  readonly keys: readonly Key[]
  readonly isEnded: boolean
  /** The id of the key that the user came for: it is shown even if it has ended. */
  readonly target: string | undefined
  readonly tenantId: string | undefined
  /** `undefined`: the session may not change keys. */
  readonly act: ((action: KeyAction) => void) | undefined
  readonly show: (action: KeyAction) => void
}

function KeyList({ keys, isEnded, target, tenantId, act, show }: ListProps) {
  const lines = keyLines(keys, now.value, (key) => isEnded || key.keyId === target)
  if (lines.length === 0) {
    return (
      <Empty title={keys.length === 0 ? 'No keys yet.' : 'All keys have ended.'}>
        {act !== undefined && <p>Issue a key, and give it to the program that needs it.</p>}
      </Empty>
    )
  }
  return <KeyTable lines={lines} target={target} tenantId={tenantId} act={act} show={show} />
}
