/** The key that is signed in, what it may do, how the console looks, and the way out. On a phone, also the views of the service. */
import { effect, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { hrefOf } from '../root.ts'
import { signedIn, signOut } from '../session/session.ts'
import { oneLine } from '../words/plain.ts'
import type { ComponentChildren } from 'preact'

interface Props {
  readonly onHelp: () => void
  /** The views of the service. */
  readonly children: ComponentChildren
}

export function Account({ onHelp, children }: Props) {
  const { label, keyId, operator, scopes, grants } = signedIn().key
  const held = [...new Set([...scopes, ...grants.flatMap((grant) => grant.scopes)])]
  const menu = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const { current } = menu
    current?.addEventListener('keydown', closeOnEscape)
    return () => current?.removeEventListener('keydown', closeOnEscape)
  }, [])
  return (
    <details class="who" ref={menu}>
      <summary>
        <Icon name="key" /> <span>{oneLine(label, 80) || keyId}</span>
      </summary>
      <div>
        <nav class="views" aria-label="Views of the service, in the menu of the key">
          {children}
        </nav>
        <p>
          {operator ? 'Operator key' : 'Key'} <code>pev_{keyId}</code>
        </p>
        <p class="quiet">Scopes: {held.join(', ')}</p>
        {operator && (
          <p class="quiet">
            An operator key sees contacts one by one, with personal data hidden, and publishes nothing. To
            read the contact feed or use the playground, sign in with a key of the agency.
          </p>
        )}
        <label>
          Theme
          <select
            value={theme.value}
            onChange={({ currentTarget }) => {
              theme.value = themes.find((one) => one === currentTarget.value) ?? 'auto'
            }}
          >
            {themes.map((one) => (
              <option key={one} value={one}>
                {themeNames[one]}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={onHelp}>
          Keyboard shortcuts <kbd>?</kbd>
        </button>
        <button type="button" onClick={() => void leave()}>
          Sign out
        </button>
      </div>
    </details>
  )
}

/** As a dialog is closed: the focus is then where it was before. */
function closeOnEscape({ key, currentTarget: menu }: KeyboardEvent): void {
  if (key !== 'Escape' || !(menu instanceof HTMLDetailsElement) || !menu.open) return
  menu.open = false
  menu.querySelector('summary')?.focus()
}

/** Whoever signs in next may have another key: the view that is open now is not theirs. */
async function leave(): Promise<void> {
  await signOut()
  history.replaceState(null, '', hrefOf('/'))
}

const themes = ['auto', 'light', 'dark'] as const
const themeNames = { auto: 'Like the device', light: 'Light', dark: 'Dark' } as const

const storageKey = 'property-events theme'

const theme = signal(themes.find((one) => one === localStorage.getItem(storageKey)) ?? 'auto')

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
  localStorage.setItem(storageKey, theme.value)
})
