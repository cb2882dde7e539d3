/** The views of the console at their addresses, and what can be asked of each of them alike. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { until } from '../../../server/test/support/until.ts'

const listed = readFileSync(join(import.meta.dirname, '../../src/views/index.ts'), 'utf8')

/** The address of each view in `src/views/index.ts`, so that a view that is added is tried too. Throws for a part without a value. */
export function viewPaths(parts: Readonly<Record<string, string>>): readonly string[] {
  const paths = [...listed.matchAll(/^ +path: '([^']+)'/gm)].map(([, path]) => path ?? '')
  assert.equal(paths.length, listed.match(/^ +title: /gm)?.length, 'every view has been found')
  const whole = (path: string): string =>
    path.replaceAll(/:(\w+)/g, (_, name: string) => parts[name] ?? assert.fail(`no value for :${name}`))
  // A part that may be left out makes two addresses.
  return paths
    .flatMap((path) => (path.endsWith('?') ? [path.replace(/\/:\w+\?$/, ''), path.slice(0, -1)] : [path]))
    .map(whole)
}

/** Resolves once the view waits for nothing more. */
export async function isShown(page: Page): Promise<void> {
  // The policy of the page lets nothing in it evaluate a text, so that the page cannot be told to wait for this itself.
  const look = `(() => {
    const main = document.querySelector('main')
    return main !== null && main.innerText.trim() !== '' && document.querySelector('.waiting') === null
  })()`
  await until(() => page.evaluate<boolean>(look), { what: 'the view' })
}

/** Whether the key of the session may see it. */
export async function isOpen(page: Page): Promise<boolean> {
  return !(await page.locator('main').innerText()).includes('may not see this')
}

/** What can be used or names a part of the view: links, buttons, fields, headings and heads of columns. */
export async function shownParts(page: Page): Promise<readonly string[]> {
  return page.evaluate<string[]>(`(() => {
    const wanted = 'a[href], button, input, select, textarea, summary, h1, h2, h3, th, dt, [role=columnheader], [role=grid]'
    return [...document.querySelectorAll(wanted)]
      .filter((part) => part.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      .filter((part) => part.getBoundingClientRect().width > 0)
      .filter((part) => part.closest('[role=row][data-row]') === null)
      .map((part) => part.tagName + ' ' + (part.ariaLabel ?? part.labels?.[0]?.innerText ?? part.textContent).trim())
      // Ages and counts go on.
      .map((name) => name.replaceAll(/\\d+/g, '#'))
      .sort()
  })()`)
}

/** Parts of the page that nobody can bring into its width: neither within it, nor in something that scrolls sideways. */
export async function partsOffThePage(page: Page): Promise<readonly string[]> {
  return page.evaluate<string[]>(`(() => {
    const scrolls = (part) => ['auto', 'scroll'].includes(getComputedStyle(part).overflowX)
    const isWithin = ({ left, right, width }) => width === 0 || (left >= -1 && right <= innerWidth + 1)
    return [...document.querySelectorAll('body *')]
      .filter((part) => part.checkVisibility() && !isWithin(part.getBoundingClientRect()))
      .filter((part) => {
        let above = part.parentElement
        while (above !== null && !scrolls(above)) above = above.parentElement
        return above === null || !isWithin(above.getBoundingClientRect())
      })
      .map((part) => part.tagName + '.' + part.className + ': ' + part.textContent.slice(0, 60))
  })()`)
}

/** What moves by itself, or would as soon as something changes. */
export async function movingParts(page: Page): Promise<readonly string[]> {
  return page.evaluate<string[]>(`(() => {
    const isNothing = (list) => list.split(',').every((time) => Number.parseFloat(time) === 0)
    const moves = (part, of) => {
      const style = getComputedStyle(part, of)
      const isMoving = style.animationName !== 'none' && !isNothing(style.animationDuration)
      return isMoving || !isNothing(style.transitionDuration) || style.scrollBehavior === 'smooth'
    }
    return [...document.querySelectorAll('*')]
      .filter((part) => [undefined, '::before', '::after', '::backdrop'].some((of) => moves(part, of)))
      .map((part) => part.tagName + '.' + part.className)
      .concat(document.getAnimations().map(() => 'an animation'))
  })()`)
}
