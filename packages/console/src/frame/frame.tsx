/** The frame around every view: where the user is, what else there is, who is signed in. */
import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { FindBox } from '../find/find-box.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { hrefOf, serviceBase } from '../root.ts'
import { signedIn } from '../session/session.ts'
import { chosenTenant } from '../state/chosen-tenant.ts'
import { now } from '../state/clock.ts'
import { connection } from '../service/call.ts'
import { agencyOf, menuOf } from '../views/open-paths.ts'
import type { MenuEntry } from '../views/open-paths.ts'
import { ageText } from '../words/times.ts'
import { Account } from './account.tsx'
import { frameAction, shortcuts } from './shortcuts.ts'
import { TenantSwitcher } from './tenant-switcher.tsx'
import './frame.css'

/** `id` counts the dialogs: one that reports its end late must not close the next one. */
interface Opened {
  readonly what: 'find' | 'help'
  readonly id: number
}

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const [opened, setOpened] = useState<Opened>()
  const count = useRef(0)
  const { path } = useLocation()
  useLayoutEffect(() => setOpened(undefined), [path])
  const open = (what: Opened['what']): void => setOpened({ what, id: (count.current += 1) })
  const close = (id: number): void => setOpened((before) => (before?.id === id ? undefined : before))
  // Together with the first picture: what is pressed between it and a later effect would be lost, or closed again.
  useLayoutEffect(() => {
    function press(event: KeyboardEvent): void {
      const action = frameAction(event, isField(event.target))
      if (action === undefined || document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      open(action)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  return (
    <div class="frame">
      <a class="skip" href="#view">
        Skip to the view
      </a>
      <Head path={path} onFind={() => open('find')} onHelp={() => open('help')} />
      <ConnectionBar />
      <main id="view" tabIndex={-1}>
        {children}
      </main>
      {opened?.what === 'find' && <FindBox key={opened.id} onClose={() => close(opened.id)} />}
      {opened?.what === 'help' && <Help key={opened.id} onClose={() => close(opened.id)} />}
    </div>
  )
}

interface HeadProps {
  readonly path: string
  readonly onFind: () => void
  readonly onHelp: () => void
}

/** Two levels: the service, and below it the agency. */
function Head({ path, onFind, onHelp }: HeadProps) {
  const { key } = signedIn()
  const tenantId = agencyOf(key, chosenTenant.value)
  const { service, agency } = menuOf(key, tenantId)
  const ofService = (
    <>
      <Entries entries={service} path={path} />
      <a href={`${serviceBase}/docs`}>
        <Icon name="reference" /> API reference
      </a>
    </>
  )
  return (
    <header class="head">
      <a class="brand" href={hrefOf('/')} aria-label="Property Events">
        <Logo /> <span>Property Events</span>
      </a>
      <nav class="views service" aria-label="Views of the service">
        {ofService}
      </nav>
      <button type="button" class="find" aria-label="Find anything" title="Find anything" onClick={onFind}>
        <Icon name="search" /> <span>Find anything</span> <kbd>/</kbd>
      </button>
      <Account key={path} onHelp={onHelp}>
        {ofService}
      </Account>
      <div class="agency">
        <TenantSwitcher tenantId={tenantId} />
        {agency.length > 0 && (
          <nav class="views" aria-label="Views of the agency">
            <Entries entries={agency} path={path} />
          </nav>
        )}
      </div>
    </header>
  )
}

function Entries({ entries, path }: { readonly entries: readonly MenuEntry[]; readonly path: string }) {
  return (
    <>
      {entries.map((entry) => {
        const href = hrefOf(entry.path)
        const isCurrent = isSame(path, href)
        return (
          <a
            key={entry.path}
            href={href}
            aria-current={isCurrent ? 'page' : undefined}
            ref={isCurrent ? bringIntoView : null}
          >
            <Icon name={entry.icon} /> {entry.name}
          </a>
        )
      })}
    </>
  )
}

/** On a phone, the tabs scroll sideways. */
function bringIntoView(tab: HTMLElement | null): void {
  tab?.scrollIntoView({ block: 'nearest', inline: 'center' })
}

function Logo() {
  return (
    <svg class="logo" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M8 1 1 7v8h5v-5h4v5h5V7z" />
    </svg>
  )
}

/** Says that the service does not answer, and how old the shown data is. It disappears by itself. */
function ConnectionBar() {
  const { awaySince, answeredAt } = connection.value
  if (awaySince === undefined) return null
  return (
    <p class="connection-bar">
      <span role="alert">The service does not answer.</span> What you see is from{' '}
      {ageText(answeredAt, Math.max(now.value, answeredAt))}. The console reconnects by itself.
    </p>
  )
}

/** The keyboard shortcuts. */
function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {shortcuts.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

/** The router leaves out the slash at the end. */
function isSame(path: string, href: string): boolean {
  return path.replace(/\/$/, '') === href.replace(/\/$/, '')
}

/** A field keeps the focus for a moment after its dialog was closed, and takes nothing any more. */
function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable]') !== null &&
    target.closest('dialog:not([open])') === null
  )
}
