/** The frame around every view: where the user is, what else there is, who is signed in. */
import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import { useLayoutEffect, useState } from 'preact/hooks'
import { FindBox } from '../find/find-box.tsx'
import { hrefOf, serviceBase } from '../root.ts'
import { signedIn, signOut } from '../session/session.ts'
import { chosenTenant } from '../state/chosen-tenant.ts'
import { views } from '../views/index.ts'
import { oneLine } from '../words/plain.ts'
import { ConnectionBar } from './connection-bar.tsx'
import { Help } from './help.tsx'
import { frameAction } from './shortcuts.ts'
import { TenantSwitcher } from './tenant-switcher.tsx'
import { ThemeSwitch } from './theme-switch.tsx'
import './frame.css'

type Open = 'find' | 'help' | undefined

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const [open, setOpen] = useState<Open>()
  const { path } = useLocation()
  useLayoutEffect(() => setOpen(undefined), [path])
  // A dialog reports its end a moment later, when another one may already be open.
  const close = (closed: Open): void => setOpen((now) => (now === closed ? undefined : now))
  // Together with the first picture: what is pressed between it and a later effect would be lost, or closed again.
  useLayoutEffect(() => {
    function press(event: KeyboardEvent): void {
      const action = frameAction(event, isField(event.target))
      if (action === undefined || document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      setOpen(action)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  return (
    <div class="frame">
      <a class="skip" href="#view">
        Skip to the view
      </a>
      <Head onFind={() => setOpen('find')} onHelp={() => setOpen('help')} />
      <ConnectionBar />
      <main id="view" tabIndex={-1}>
        {children}
      </main>
      {open === 'find' && <FindBox onClose={() => close('find')} />}
      {open === 'help' && <Help onClose={() => close('help')} />}
    </div>
  )
}

interface HeadProps {
  readonly onFind: () => void
  readonly onHelp: () => void
}

function Head({ onFind, onHelp }: HeadProps) {
  const { label, keyId, operator } = signedIn().key
  return (
    <header class="head">
      <a class="brand" href={hrefOf('/')}>
        Property Events
      </a>
      <TenantSwitcher />
      <button type="button" class="find" onClick={onFind}>
        Find anything <kbd>/</kbd>
      </button>
      <ThemeSwitch />
      <button
        type="button"
        class="plain"
        aria-label="Keys of the keyboard"
        title="Keys of the keyboard"
        onClick={onHelp}
      >
        ?
      </button>
      <details class="who">
        <summary>{oneLine(label, 80) || keyId}</summary>
        <div>
          <p>
            {operator ? 'Operator key' : 'Key'} <code>pev_{keyId}</code>
          </p>
          <button type="button" onClick={() => void signOut()}>
            Sign out
          </button>
        </div>
      </details>
      <Menu />
    </header>
  )
}

function Menu() {
  const { path } = useLocation()
  const entries = views.flatMap(({ menu }) => menu?.(signedIn().key, chosenTenant.value) ?? [])
  return (
    <nav class="menu" aria-label="Views">
      {entries.map(({ name, place }) => {
        const href = hrefOf(place)
        return (
          <a key={place} href={href} aria-current={isSame(path, href) ? 'page' : undefined}>
            {name}
          </a>
        )
      })}
      <a href={`${serviceBase}/docs`}>API reference</a>
    </nav>
  )
}

/** The router leaves out the slash at the end. */
function isSame(path: string, href: string): boolean {
  return path.replace(/\/$/, '') === href.replace(/\/$/, '')
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  )
}
