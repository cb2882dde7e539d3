/** The built console at a real service, and a browser that has signed in to it. */
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { adminScopes } from '@property-events/protocol'
import { startTestService } from '../../../server/test/support/test-service.ts'
import type { TestService, TestServiceOptions } from '../../../server/test/support/test-service.ts'
import { visit, waitMs } from './visit.ts'
import type { Look, Visit } from './visit.ts'

export const builtFolder = join(import.meta.dirname, '../../built')

export interface ConsoleService extends TestService {
  /** The text of an operator key with every scope. */
  readonly operatorKey: string
}

export async function startConsoleService(options: TestServiceOptions = {}): Promise<ConsoleService> {
  const service = await startTestService({ console: { folder: builtFolder }, ...options })
  const { text } = await service.issue({ operator: true, adminScopes: [...adminScopes] })
  return { ...service, operatorKey: text }
}

export interface SignedIn extends Visit {
  /** Every address that was asked for since. */
  readonly asked: string[]
  /** Loads a path of the console, such as `/tenants/…/keys`. */
  readonly go: (path: string) => Promise<void>
}

const usualLook: Look = { width: 1_440, scheme: 'light' }

/** By pasting a key. */
export async function signedIn(
  browser: Browser,
  { url }: TestService,
  key: string,
  look: Look = usualLook,
): Promise<SignedIn> {
  const visitor = await visit(browser, `${url}/console/`, look)
  const { page } = visitor
  page.setDefaultTimeout(waitMs)
  await page.getByLabel('Key', { exact: true }).fill(key)
  await page.keyboard.press('Enter')
  await page.locator('main#view').waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  const go = async (path: string): Promise<void> => void (await page.goto(`${url}/console${path}`))
  return { ...visitor, asked, go }
}
