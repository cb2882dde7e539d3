/** What an administrator and a visitor of the site see and may do, in a real WordPress and a real browser: in `test:long` alone. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { startBrowser, withBrowser } from '../../../packages/server/test/support/browser.ts'
import { publish } from '../../../packages/server/test/support/http-client.ts'
import { property } from '../../../packages/server/test/support/property.ts'
import { startTestService } from '../../../packages/server/test/support/test-service.ts'
import type { TestService } from '../../../packages/server/test/support/test-service.ts'
import { startPictureServer } from './picture-server.ts'
import type { PictureServer } from './picture-server.ts'
import { beginAnew, startWordPress, whatIsMissing } from './wordpress-site.ts'
import type { WordPressSite } from './wordpress-site.ts'

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] !== undefined
const inLongRuns = {
  skip: isLong ? false : 'takes minutes and a WordPress: in npm run test:long',
  timeout: 1_800_000,
}
/** Where pictures of the pages are put, for a person to look at. */
const screenshots = process.env['PROPERTY_EVENTS_TEST_SCREENSHOTS']

describe('the pages of the plugin in WordPress', inLongRuns, () => {
  let site: WordPressSite
  let service: TestService
  let pictures: PictureServer

  before(async () => {
    const missing = whatIsMissing()
    if (missing !== undefined) assert.fail(missing)
    pictures = await startPictureServer()
    service = await startTestService()
    site = await startWordPress()
  })
  after(async () => {
    await site?.stop()
    await service?.stop()
    await pictures?.stop()
  })

  const settingsPage = () => `${site.url}/wp-admin/options-general.php?page=property-events`

  /** The cookies of a user who has logged in. */
  async function cookiesOf(name: string, password: string): Promise<string> {
    const answer = await fetch(`${site.url}/wp-login.php`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' },
      body: new URLSearchParams({ log: name, pwd: password, testcookie: '1' }),
    })
    assert.equal(answer.status, 302)
    return answer.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; ')
  }

  /** Sends a form of the settings page. */
  async function send(cookie: string, action: string, fields: Readonly<Record<string, string>>) {
    const body = new URLSearchParams({ action: `property_events_${action}`, ...fields })
    return fetch(`${site.url}/wp-admin/admin-post.php`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie },
      body,
    })
  }

  const pageWith = async (cookie: string) => (await fetch(settingsPage(), { headers: { cookie } })).text()
  const nonceOf = (page: string, action: string) =>
    new RegExp(`value="property_events_${action}">.*?name="_wpnonce" value="(\\w+)"`, 's').exec(page)?.[1] ??
    ''

  it('keep a key that is given once and never show it, and take no address that would send it in the open', async () => {
    await beginAnew(site, '', '')
    const cookie = await cookiesOf(site.administrator.name, site.administrator.password)
    const nonce = nonceOf(await pageWith(cookie), 'save')
    const fields = {
      url: service.url,
      key: service.tenant.readKey,
      post_type: 'property_listing',
      interval_minutes: '15',
      _wpnonce: nonce,
    }
    assert.equal((await send(cookie, 'save', fields)).status, 302)
    const page = await pageWith(cookie)
    assert.match(page, /Saved\. The next run begins within a minute/)
    for (const address of [settingsPage(), `${site.url}/wp-admin/options.php`]) {
      const text = await (await fetch(address, { headers: { cookie } })).text()
      assert.ok(!text.includes(service.tenant.readKey), address)
    }
    // Left empty, the key stays; what is wrong changes nothing.
    await send(cookie, 'save', { ...fields, key: '', interval_minutes: '30' })
    const wrong = {
      ...fields,
      url: 'http://feed.example.com',
      key: 'two words',
      post_type: 'page',
      interval_minutes: '2',
    }
    await send(cookie, 'save', wrong)
    const refused = await pageWith(cookie)
    for (const words of [
      /must begin with https:\/\/, because the key is sent to it/,
      /no blanks/,
      /kinds of posts/,
      /one of the intervals/,
    ]) {
      assert.match(refused, words)
    }
    const kept = await site.php<Readonly<Record<string, unknown>>>(
      'return get_option("property_events_settings");',
    )
    assert.deepEqual(kept, {
      url: service.url,
      key: service.tenant.readKey,
      post_type: 'property_listing',
      interval_minutes: 30,
    })
    assert.equal((await send(cookie, 'check', { _wpnonce: nonceOf(page, 'check') })).status, 302)
    assert.match(await pageWith(cookie), /The service accepts the key\. Its property feed is at number 0\./)
  })

  it('do nothing without a nonce of their own, for an editor or for a stranger', async () => {
    await beginAnew(site, service.url, service.tenant.readKey)
    await site.php(
      `return wp_insert_user(['user_login' => 'editor', 'user_pass' => 'a-password-for-tests', 'role' => 'editor', 'user_email' => 'e@example.com']);`,
    )
    const administrator = await cookiesOf(site.administrator.name, site.administrator.password)
    const editor = await cookiesOf('editor', 'a-password-for-tests')
    const page = await pageWith(administrator)
    assert.equal((await fetch(settingsPage(), { headers: { cookie: editor } })).status, 403)
    for (const action of ['save', 'check', 'run', 'allow', 'resync', 'page', 'pictures']) {
      const own = nonceOf(page, action)
      const other = nonceOf(page, action === 'save' ? 'run' : 'save')
      assert.ok((own !== '' || action === 'allow' || action === 'pictures') && other !== '')
      const fields = { url: 'https://evil.example.com', key: 'x', post_type: 'post', interval_minutes: '1' }
      assert.equal((await send(administrator, action, fields)).status, 403, `${action} without a nonce`)
      assert.equal(
        (await send(administrator, action, { ...fields, _wpnonce: other })).status,
        403,
        `${action} with another's nonce`,
      )
      assert.equal(
        (await send(editor, action, { ...fields, _wpnonce: own })).status,
        403,
        `${action} by an editor`,
      )
      // WordPress has no handler for who is not logged in.
      await send('', action, { ...fields, _wpnonce: own })
    }
    const kept = await site.php<readonly unknown[]>(
      'return [get_option("property_events_settings")["url"], \\PropertyEvents\\WordPress\\Status::now()->ranAt, wp_count_posts("page")->draft];',
    )
    assert.deepEqual(kept.slice(0, 2), [service.url, 0])
  })

  it(
    'show listings at once, and say what stands in a feed without running any of it',
    withBrowser,
    async (context) => {
      await beginAnew(site, service.url, service.tenant.readKey)
      const evil = `<script>alert('x')</script>"><img src=x onerror=alert(1)>[gallery]`
      for (let index = 0; index < 16; index += 1) {
        const house = (number: number) => ({
          media_type: 1,
          media_url: `${pictures.url}/house-${(index + number) % 18}.png`,
          sort_order: number,
        })
        const payload = property({
          agent_ref: randomUUID(),
          address: {
            display_address:
              index === 3
                ? `${evil} Lane`
                : `${['Mill Lane', 'High Street', 'Station Road', 'The Green'][index % 4]} ${index + 1}, Ely`,
            town: 'Ely',
            postcode_1: 'CB7',
            postcode_2: '4AA',
            latitude: 52.4,
            longitude: 0.26,
          },
          price_information: {
            price: 250_000 + index * 12_500,
            ...(index % 4 === 1 ? { price_qualifier: 2 } : {}),
          },
          details: {
            summary: index === 3 ? evil : 'A family home by the river, with a garden that faces south.',
            description: `<p>A family home by the river.</p><p>${index === 3 ? evil : 'The kitchen was made new.'}</p><ul><li>Garden</li></ul>`,
            features: ['South-facing garden', index === 3 ? evil : 'Off-street parking'],
            bedrooms: 1 + (index % 5),
            bathrooms: 1 + (index % 2),
            council_tax_band: 'D',
          },
          media: [
            house(0),
            house(1),
            house(2),
            ...(index === 3
              ? [{ media_type: 5, media_url: 'https://tours.example.com/x?a="onclick=', caption: evil }]
              : []),
          ],
        })
        await publish(service, { payload })
      }
      const { code, stderr } = await site.command(['sync'], { memoryLimit: '64M' })
      assert.equal(code, 0, stderr)
      const cookie = await cookiesOf(site.administrator.name, site.administrator.password)
      await send(cookie, 'page', { _wpnonce: nonceOf(await pageWith(cookie), 'page') })
      const page = await site.php<string>(
        `$id = get_posts(['post_type' => 'page', 'post_status' => 'draft', 'title' => 'Our listings'])[0]->ID; wp_update_post(['ID' => $id, 'post_status' => 'publish']); return get_permalink($id);`,
      )
      const browser = await startBrowser()
      context.after(() => browser.close())
      const seen = await watched(browser)
      await seen.page.goto(page)
      assert.equal(await seen.page.locator('.property-events-listing').count(), 12)
      await look(seen.page, 'listings')
      await seen.page.getByRole('link', { name: 'Next', exact: true }).click()
      assert.equal(await seen.page.locator('.property-events-listing').count(), 4)
      const strange = seen.page.locator('.property-events-listing', { hasText: 'Lane' }).first()
      await strange.locator('a').click()
      await seen.page.locator('.property-events-single').waitFor()
      await look(seen.page, 'listing')
      const evilAddress = await site.php<string>(
        `global $wpdb; return get_permalink($wpdb->get_var("SELECT post_id FROM {$wpdb->postmeta} WHERE meta_key = 'property_events_address' AND meta_value LIKE '%script%'"));`,
      )
      await seen.page.goto(evilAddress)
      assert.match((await seen.page.locator('.property-events-single').textContent()) ?? '', /\[gallery\]/)
      assert.equal(
        await seen.page
          .locator(
            '.property-events-single script, .property-events-single [onerror], .property-events-single .gallery',
          )
          .count(),
        0,
      )
      await seen.page.setViewportSize({ width: 390, height: 800 })
      await seen.page.goto(page)
      await look(seen.page, 'listings-phone')
      assert.deepEqual(seen.dialogs, [])
      assert.deepEqual(seen.strangers(), [], 'nothing is fetched from elsewhere')
      await logIn(seen.page)
      await seen.page.setViewportSize({ width: 1100, height: 900 })
      await seen.page.goto(settingsPage())
      await look(seen.page, 'settings', '.wrap')
      assert.equal(site.complaints(), '')
    },
  )

  it(
    'show in wp-admin which homes there are, what is missing and why, and what cannot be changed there',
    withBrowser,
    async (context) => {
      await beginAnew(site, service.url, service.tenant.readKey)
      const home = (index: number, fields: Readonly<Record<string, unknown>> = {}) =>
        property({
          agent_ref: randomUUID(),
          reference: `TŶ-${index}`,
          address: { display_address: `Tŷ Gwyn ${index} – Llŷn`, town: 'Ely' },
          price_information: { price: 250_000 + index },
          media: [{ media_type: 1, media_url: `${pictures.url}/house-${index}.png` }],
          ...fields,
        })
      const rent = { price_information: { price: 950, rent_frequency: 12 } }
      const gone = ['/page.html', '/drawing.svg.png'].map((path) => ({
        media_type: 1,
        media_url: `${pictures.url}${path}`,
      }))
      const homes = [
        home(1),
        home(2),
        home(3, rent),
        home(4, { media: gone }),
        home(5, { reference: 'REFUSE-ME' }),
      ]
      await publish(
        service,
        homes.map((payload) => ({ payload })),
      )
      assert.equal((await site.command(['sync'], { memoryLimit: '64M' })).code, 0)
      const browser = await startBrowser()
      context.after(() => browser.close())
      const { page } = await watched(browser)
      await logIn(page)
      const listings = `${site.url}/wp-admin/edit.php?post_type=property_listing`
      await page.goto(listings)
      const rows = page.locator('#the-list tr')
      const ours = homes.slice(0, 4).map(({ agent_ref: ref }) => ref)
      assert.ok((await rows.count()) >= ours.length)
      for (const heading of ['Picture', 'Reference', 'Price', 'Status']) {
        assert.equal(await page.locator('thead th', { hasText: heading }).count(), 1, heading)
      }
      const row = rows.filter({ hasText: 'Tŷ Gwyn 2 – Llŷn' })
      assert.match((await row.textContent()) ?? '', /TŶ-2.*£250,002.*Available/s)
      assert.equal(await row.locator('img').count(), 1)
      await look(page, 'wp-admin-listings', '#property_events_category, .property_events_price')
      await page.selectOption('#property_events_category', 'lettings')
      await page.click('#post-query-submit')
      await page.waitForURL(/property_events_category=lettings/)
      await page.locator('.tablenav.bottom').waitFor()
      assert.equal(await rows.count(), 1)
      assert.match((await rows.first().textContent()) ?? '', /Tŷ Gwyn 3 .*£950 pcm/s)
      await page.setViewportSize({ width: 1100, height: 1200 })
      await page.goto(settingsPage())
      assert.match(
        (await page.locator('.property-events-listings').textContent()) ?? '',
        /1The site does not want it\./,
      )
      assert.match(
        (await page.locator('.property-events-pictures').textContent()) ?? '',
        /2It is no JPEG, PNG, WebP or GIF\./,
      )
      await page.getByRole('button', { name: 'Try these pictures again' }).click()
      assert.match((await page.locator('.notice-success').textContent()) ?? '', /2 pictures are tried again/)
      // The right address of all listings, whatever the site's permalinks are.
      assert.equal(await page.getByRole('link', { name: `${site.url}/listings/` }).count(), 1)
      await site.php(`update_option('permalink_structure', ''); return true;`)
      const constants = join(site.folder, 'constants.php')
      writeFileSync(
        constants,
        `<?php define('PROPERTY_EVENTS_URL', '${service.url}'); define('PROPERTY_EVENTS_KEY', '${service.tenant.readKey}');`,
      )
      context.after(() => {
        rmSync(constants)
        return site.php(`update_option('permalink_structure', '/%postname%/'); return true;`)
      })
      await page.goto(settingsPage())
      const plain = `${site.url}/?post_type=property_listing`
      assert.equal(await page.getByRole('link', { name: plain }).count(), 1)
      const archive = await (await fetch(plain)).text()
      assert.ok(archive.includes('Tŷ Gwyn 1 – Llŷn'), 'and there they are')
      for (const [field, constant] of [
        ['#pe-url', 'PROPERTY_EVENTS_URL'],
        ['#pe-key', 'PROPERTY_EVENTS_KEY'],
      ] as const) {
        assert.equal(await page.locator(field).getAttribute('readonly'), '')
        const said = await page.locator(`${field}-words`).textContent()
        assert.equal(said, `Set in wp-config.php as ${constant}, and cannot be changed here.`)
      }
      await look(page, 'settings-fixed', '.wrap')
      await page.getByRole('button', { name: 'Save' }).click()
      assert.match((await page.locator('.notice-success').textContent()) ?? '', /^Saved\./)
      assert.equal(site.complaints(), '')
    },
  )

  it('speak the language of the site', async () => {
    const words = await site.php<readonly string[]>(`
      add_filter('gettext', fn ($translated, $text, $domain) => $domain === 'property-events' ? "[$text]" : $translated, 10, 3);
      return [...array_keys(\\PropertyEvents\\WordPress\\Status::now()->lines()), do_shortcode('[property_events_listings category="sales"]')];`)
    assert.ok(
      words.slice(0, 4).every((name) => name.startsWith('[')),
      words.join(),
    )
  })

  it('take pictures from the address of the service, also on this machine, and say why from no other', async (context) => {
    // One address for the feed and its pictures, as the demo has it.
    const both = createServer((request, response) => {
      const path = request.url ?? ''
      const from = path.startsWith('/good-') ? pictures.url : service.url
      void passOn(`${from}${path}`, String(request.headers['x-api-key'] ?? ''), response)
    })
    await new Promise<void>((resolve) => both.listen(0, '127.0.0.1', resolve))
    context.after(() => void both.close())
    const url = `http://127.0.0.1:${(both.address() as AddressInfo).port}`
    const ref = randomUUID()
    const media = [url, pictures.url].map((from, place) => ({
      media_type: 1,
      media_url: `${from}/good-${ref}-${place}.png`,
      sort_order: place,
    }))
    await beginAnew(site, url, service.tenant.readKey)
    await publish(service, { payload: property({ agent_ref: ref, media }) })
    const { code, stderr } = await site.command(['sync'], { environment: { STRANGERS_ONLY: '1' } })
    assert.equal(code, 0, stderr)
    const found = await site.php<readonly (readonly [string, string])[]>(
      `global $wpdb; return array_map('array_values', $wpdb->get_results("SELECT state, reason FROM {$wpdb->prefix}property_events_images WHERE url LIKE '%${ref}%' ORDER BY url LIKE '%-1.png'", ARRAY_A));`,
    )
    assert.deepEqual(found[0], ['kept', ''])
    assert.equal(found[1]?.[0], 'refused')
    assert.match(found[1]?.[1] ?? '', /^WordPress fetches nothing from this address: /)
    assert.equal(pictures.asked.get(`/good-${ref}-1.png`), undefined)
  })

  async function passOn(url: string, key: string, response: ServerResponse): Promise<void> {
    const method = url.includes('/acknowledged') ? 'PUT' : 'GET'
    const answer = await fetch(url, { method, headers: { 'x-api-key': key } })
    const body = Buffer.from(await answer.arrayBuffer())
    const headers = [...answer.headers].filter(
      ([name]) => name.startsWith('x-') || name === 'content-type' || name === 'etag',
    )
    response.writeHead(answer.status, { ...Object.fromEntries(headers), connection: 'close' })
    response.end(body)
  }

  async function logIn(page: Page): Promise<void> {
    await page.goto(`${site.url}/wp-login.php`)
    await page.fill('#user_login', site.administrator.name)
    await page.fill('#user_pass', site.administrator.password)
    await page.click('#wp-submit')
    await page.waitForURL(/wp-admin/)
  }

  /** A page, with what it asked strangers for and what scripts have said. */
  async function watched(browser: Browser) {
    const page = await browser.newPage({ viewport: { width: 1100, height: 900 } })
    const [asked, dialogs]: [string[], string[]] = [[], []]
    page.on('request', (request) => void asked.push(request.url()))
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    const strangers = () => asked.filter((url) => !url.startsWith(site.url) && !url.startsWith('data:'))
    return { page, dialogs, strangers }
  }

  /** What axe finds in our part of the page, and a picture of all of it. */
  async function look(
    page: Page,
    name: string,
    part = '.property-events-listings, .property-events-single',
  ): Promise<void> {
    if (screenshots !== undefined)
      await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true })
    await page.evaluate(axe.source)
    const found = await page.evaluate(async (selector) => {
      const results =
        await // The script that was put into the page leaves its name there; no type knows of it.
        (
          globalThis as unknown as {
            axe: {
              run(
                where: string,
              ): Promise<{ violations: readonly { id: string; nodes: readonly { html: string }[] }[] }>
            }
          }
        ).axe.run(selector)
      return results.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
    }, part)
    assert.deepEqual(found, [], name)
  }

  it('leave nothing of ours when the plugin is deleted, and nothing of others goes', async () => {
    await beginAnew(site, service.url, service.tenant.readKey)
    await site.php(
      `wp_insert_post(['post_title' => 'A page of their own', 'post_type' => 'page', 'post_status' => 'publish']); return true;`,
    )
    await publish(service, {
      payload: property({ media: [{ media_type: 1, media_url: `${pictures.url}/good-last.png` }] }),
    })
    assert.equal((await site.command(['sync'])).code, 0)
    const left = () =>
      site.php<readonly unknown[]>(`global $wpdb; return [
        $wpdb->get_col("SELECT table_name FROM information_schema.tables WHERE table_name LIKE '%property%events%'"),
        $wpdb->get_col("SELECT option_name FROM {$wpdb->options} WHERE option_name LIKE '%property_events%' AND option_name NOT LIKE '_transient%'"),
        $wpdb->get_col("SELECT post_title FROM {$wpdb->posts} WHERE post_type IN ('property_listing', 'attachment')"),
        (int) $wpdb->get_var("SELECT count(*) FROM {$wpdb->postmeta} WHERE meta_key LIKE 'property_events%'"),
        glob(wp_upload_dir()['basedir'] . '/property-events*'),
        wp_next_scheduled('property_events_run'),
        (int) $wpdb->get_var("SELECT count(*) FROM {$wpdb->posts} WHERE post_title = 'A page of their own'")];`)
    assert.equal((await left())[6], 1)
    await site.php(`
      require_once ABSPATH . 'wp-admin/includes/plugin.php';
      require_once ABSPATH . 'wp-admin/includes/file.php';
      deactivate_plugins('property-events/property-events.php');
      uninstall_plugin('property-events/property-events.php');
      return true;`)
    assert.deepEqual(await left(), [[], [], [], 0, [], false, 1])
    assert.equal(site.complaints(), '')
  })
})
