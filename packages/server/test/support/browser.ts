/** A real browser, where there is one: Chromium or Chrome of the machine's own, driven by playwright-core. */
import { spawnSync } from 'node:child_process'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** `PROPERTY_EVENTS_TEST_CHROMIUM` names another one. `undefined`: there is none. */
export const browserProgram = [process.env['PROPERTY_EVENTS_TEST_CHROMIUM'], ...names]
  .filter((name) => name !== undefined && name !== '')
  .find((name) => spawnSync(name ?? '', ['--version']).status === 0)

/** Without a browser nothing of this can be tried, and each test says so. */
export const withBrowser = {
  skip:
    browserProgram === undefined
      ? 'no Chromium is installed here (apt-get install chromium): not tried'
      : false,
} as const

/** `further`: arguments of the program. */
export async function startBrowser(further: readonly string[] = []): Promise<Browser> {
  const found = spawnSync('/bin/sh', ['-c', `command -v "${browserProgram}"`])
    .stdout.toString()
    .trim()
  // Chromium has no sandbox for root, as whom containers run; it opens pages of our own service alone.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const args = ['--disable-dev-shm-usage', ...sandbox, ...further]
  return chromium.launch({ executablePath: found, args, timeout: 60_000 })
}
