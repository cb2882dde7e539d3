/** The plugin as a receiver of webhooks, in a real WordPress: in `test:long` alone. */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { publish } from '../../../packages/server/test/support/http-client.ts'
import { property } from '../../../packages/server/test/support/property.ts'
import { startTestService } from '../../../packages/server/test/support/test-service.ts'
import type { TestService } from '../../../packages/server/test/support/test-service.ts'
import { postsOf } from './site-and-feed.ts'
import { beginAnew, startWordPress, until, whatIsMissing } from './wordpress-site.ts'
import type { WordPressSite } from './wordpress-site.ts'

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] !== undefined
const inLongRuns = {
  skip: isLong ? false : 'takes minutes and a WordPress: in npm run test:long',
  timeout: 600_000,
}
const secretOf = (fill: number) => `whsec_${Buffer.alloc(32, fill).toString('base64')}`
const [secret, next, stranger] = [secretOf(1), secretOf(2), secretOf(3)]
const body = JSON.stringify({
  type: 'property.event',
  timestamp: '2026-01-31T09:30:01.250Z',
  data: { event: { subject: 'Tŷ – £ 🏡' } },
})

describe('the plugin as a receiver of webhooks', inLongRuns, () => {
  let site: WordPressSite
  let service: TestService
  before(async () => {
    const missing = whatIsMissing()
    if (missing !== undefined) assert.fail(missing)
    service = await startTestService()
    site = await startWordPress()
    await beginAnew(site, service.url, service.tenant.readKey)
  })
  after(async () => {
    await site?.stop()
    await service?.stop()
  })

  const keep = (secrets: string) =>
    site.php(
      `return update_option('property_events_settings', ['webhook_secret' => '${secrets}'] + get_option('property_events_settings'), false);`,
    )
  /** As the library for Standard Webhooks signs it. */
  const post = (signedWith: string, text = body, at = new Date()) =>
    fetch(`${site.url}/wp-json/property-events/v1/webhook`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(signedWith).sign('msg_1', at, text),
      },
      body: text,
    })
  const isRunWanted = () => site.php<boolean>(`return wp_next_scheduled('property_events_run_on') !== false;`)
  const newHome = async () => {
    const home = property({ media: [] })
    await publish(service, { payload: home })
    return home.agent_ref.toLowerCase()
  }

  it('takes none without a secret, and none that was not signed with it a moment ago', async () => {
    assert.equal((await post(secret)).status, 404)
    await keep(secret)
    const refused = await post(stranger)
    assert.equal(refused.status, 400)
    assert.match(await refused.text(), /No signature of the request was made with one of the secrets/)
    assert.equal((await post(secret, body, new Date(Date.now() - 400_000))).status, 400)
    const unsigned = await fetch(`${site.url}/wp-json/property-events/v1/webhook`, { method: 'POST', body })
    assert.equal(unsigned.status, 400)
    assert.equal((await fetch(`${site.url}/wp-json/property-events/v1/webhook`)).status, 404)
    assert.equal(await isRunWanted(), false)
  })

  it('answers at once, and the run that follows has the change; a second message adds no second run', async () => {
    await keep(`${secret} ${next}`)
    const ref = await newHome()
    for (const one of [secret, next]) assert.equal((await post(one)).status, 204)
    const wanted = await site.php<number>(
      `return count(array_filter(_get_cron_array(), fn ($at) => isset($at['property_events_run_on'])));`,
    )
    assert.equal(wanted, 1)
    await site.php(
      `wp_clear_scheduled_hook('property_events_run_on'); do_action('property_events_run_on'); return true;`,
    )
    assert.equal((await postsOf(site)).get(ref)?.status, 'publish')
    assert.equal(await isRunWanted(), false)
  })

  it('takes a message of another type, such as a test, and begins nothing', async () => {
    assert.equal((await post(secret, JSON.stringify({ type: 'webhook.test', data: {} }))).status, 204)
    assert.equal(await isRunWanted(), false)
  })

  it('that comes while a run is under way is not lost: another run follows', async () => {
    assert.equal((await post(secret)).status, 204)
    // The lock of a run is the database's, and belongs to a connection.
    const isWantedAgain = await site.php<boolean>(`
      $other = new wpdb(DB_USER, DB_PASSWORD, DB_NAME, DB_HOST);
      $other->set_prefix($GLOBALS['wpdb']->prefix);
      if (!(new PropertyEvents\\WordPress\\Store($other))->lock()) throw new Exception('no lock');
      wp_clear_scheduled_hook('property_events_run_on');
      do_action('property_events_run_on');
      return wp_next_scheduled('property_events_run_on') !== false;`)
    assert.equal(isWantedAgain, true)
  })

  it('begins a run where nobody visits the site and no cron job calls it', async () => {
    // Nothing else is due, for which WordPress would begin its jobs by itself.
    await site.php(`
      $later = [];
      foreach (_get_cron_array() as $at => $events) $later[$at + 86400] = $events;
      _set_cron_array($later);
      wp_clear_scheduled_hook('property_events_run_on');
      delete_transient('doing_cron');
      return true;`)
    const ref = await newHome()
    const marker = join(site.folder, 'cron-by-visitors')
    writeFileSync(marker, '')
    try {
      assert.equal((await post(secret)).status, 204)
    } finally {
      // To look whether it is there is to visit the site.
      rmSync(marker)
    }
    await until(async () => (await postsOf(site)).get(ref)?.status === 'publish', 'the home is on the site')
    assert.equal(site.complaints(), '')
  })
})
