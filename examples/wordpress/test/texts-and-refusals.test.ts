/**
 * The plugin in a real WordPress with homes whose texts have all kinds of characters, and with a database that refuses some of them:
 * in `test:long` alone.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { publish } from '../../../packages/server/test/support/http-client.ts'
import { property } from '../../../packages/server/test/support/property.ts'
import { startTestService } from '../../../packages/server/test/support/test-service.ts'
import { startPictureServer } from './picture-server.ts'
import type { PictureServer } from './picture-server.ts'
import { assertSiteIsTheFeed, postsOf } from './site-and-feed.ts'
import { beginAnew, startWordPress, whatIsMissing } from './wordpress-site.ts'
import type { WordPressSite } from './wordpress-site.ts'

const isLong = process.env['PROPERTY_EVENTS_TEST_LONG'] !== undefined
const inLongRuns = {
  skip: isLong ? false : 'takes minutes and a WordPress: in npm run test:long',
  timeout: 1_800_000,
}

/** Welsh, pounds, dashes, an apostrophe that is curled, emoji, and words that run from right to left. */
const words = 'Tŷ Gwyn – £450 “ŵy” — it’s 🏡 בית عربي'

describe('the plugin in WordPress, with texts of every kind', inLongRuns, () => {
  let site: WordPressSite
  let pictures: PictureServer

  before(async () => {
    const missing = whatIsMissing()
    if (missing !== undefined) assert.fail(missing)
    pictures = await startPictureServer()
    site = await startWordPress()
  })
  after(async () => {
    await site?.stop()
    await pictures?.stop()
  })

  async function begun(context: TestContext) {
    const service = await startTestService()
    context.after(() => service.stop())
    await beginAnew(site, service.url, service.tenant.readKey)
    return service
  }

  const media = (path: string, fields: Readonly<Record<string, unknown>> = {}) => ({
    media_type: 1,
    media_url: `${pictures.url}${path}`,
    sort_order: 0,
    ...fields,
  })

  /** Every text that the payload has, in characters of every kind. */
  const worded = (name: string) => ({
    reference: `${words} ${name}`,
    statusstring: words,
    address: {
      house_name_number: words,
      address_2: `Heol y Dŵr ${words}`,
      town: `Llŷn ${words}`,
      display_address: `${name}: ${words}`,
    },
    price_information: { price: 450_000, price_qualifier_string: words },
    details: {
      summary: words,
      description: `<p>${words}</p><p>${words}</p>`,
      features: [words, `${words} 2`],
      rooms: [{ room_name: words, room_description: words, room_dimension_text: words }],
      bedrooms: 3,
    },
    media: [
      media(`/good-${name}.png`, { caption: words }),
      media(`/llun-ŷ-${name}.png`, { caption: words, sort_order: 1 }),
      media(`/plan-${name}.pdf`, { caption: words, media_type: 3 }),
    ],
  })

  /** What the site made of a home. */
  async function verdictOf(ref: string) {
    const { code, stdout, stderr } = await site.command(['verdicts'])
    assert.equal(code, 0, stderr)
    const all = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<'reference' | 'verdict' | 'reason', string>>)
    return all.find(({ reference }) => reference === ref)
  }

  /** The database refuses what has this word, in this column, as long as the test runs. */
  async function refusing(context: TestContext, table: string, column: string, word: string): Promise<void> {
    const trigger = (when: 'INSERT' | 'UPDATE') =>
      `CREATE TRIGGER refuses_${table}_${when} BEFORE ${when} ON wp_${table} FOR EACH ROW
       BEGIN IF NEW.${column} LIKE '%${word}%' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'nid yw’r gronfa ddata yn ei dderbyn'; END IF; END`
    await site.php(
      `foreach ([${JSON.stringify(trigger('INSERT'))}, ${JSON.stringify(trigger('UPDATE'))}] as $sql) if ($GLOBALS['wpdb']->query($sql) === false) throw new Exception($GLOBALS['wpdb']->last_error); return true;`,
    )
    context.after(() =>
      site.php(
        `foreach (['INSERT', 'UPDATE'] as $when) $GLOBALS['wpdb']->query("DROP TRIGGER refuses_${table}_$when"); return true;`,
      ),
    )
  }

  it('shows 99 of 100 homes after one run, a third of them with every character there is, and names the one that the database refuses', async (context) => {
    const service = await begun(context)
    await refusing(context, 'posts', 'post_title', 'NOT-TAKEN')
    const refs = Array.from({ length: 100 }, () => randomUUID())
    const refused = refs[50] ?? ''
    await publish(
      service,
      refs.map((ref, index) => ({
        payload: property({
          agent_ref: ref,
          media: [media(`/good-${ref}.png`)],
          ...(index % 3 === 0 ? worded(String(index)) : {}),
          ...(ref === refused ? { address: { display_address: 'NOT-TAKEN' } } : {}),
        }),
      })),
    )
    assert.ok((await site.cron({ memoryLimit: '64M' })) !== undefined)
    const status = await site.php<Readonly<Record<string, unknown>>>(
      'return \\PropertyEvents\\WordPress\\Status::now();',
    )
    assert.deepEqual(
      [status['shown'], status['refused'], status['pending']],
      [99, 1, 0],
      JSON.stringify(status),
    )
    const verdict = await verdictOf(refused)
    assert.equal(verdict?.verdict, 'refused')
    assert.match(verdict?.reason ?? '', /nid yw’r gronfa ddata yn ei dderbyn/)
    // Pictures are downloaded by the runs after it.
    assert.equal((await site.command(['sync'])).code, 0)
    const posts = await postsOf(site)
    const shown = [...posts].filter(([, { status }]) => status === 'publish')
    assert.equal(shown.length, 99)
    const first = posts.get(refs[0] ?? '') ?? assert.fail()
    assert.deepEqual(
      [first.fields['agent_reference'], first.fields['town'], first.fields['features']],
      [`${words} 0`, `Llŷn ${words}`, [words, `${words} 2`]],
    )
    const caption = await site.php(
      `return property_events_photographs(${first.id})[0]['caption'] . get_post_meta(property_events_photographs(${first.id})[0]['attachmentId'], '_wp_attachment_image_alt', true);`,
    )
    assert.equal(caption, words + words)
    assert.equal(site.complaints(), '')
  })

  it('refuses the homes that the database does not take, wherever it refuses them, and makes all others', async (context) => {
    const service = await begun(context)
    const home = (fields: Readonly<Record<string, unknown>>) => {
      const ref = randomUUID()
      return { ref, payload: property({ agent_ref: ref, ...worded('x'), media: [], ...fields }) }
    }
    await refusing(context, 'property_events_listings', 'payload', 'PAYLOAD-NO')
    await refusing(context, 'property_events_links', 'caption', 'CAPTION-NO')
    await refusing(context, 'postmeta', 'meta_value', 'FIELD-NO')
    const bad = [
      home({ branch_id: 'PAYLOAD-NO' }),
      home({ media: [media('/good-a.png', { caption: 'CAPTION-NO' })] }),
      home({ reference: 'FIELD-NO' }),
    ]
    const good = [home({}), home({}), home({})]
    // In turn, so that each refusal has homes after it.
    const all = bad.flatMap((one, index) => [one, good[index] ?? assert.fail()])
    await publish(
      service,
      all.map(({ payload }) => ({ payload })),
    )
    const { code, stdout, stderr } = await site.command(['sync'], { memoryLimit: '64M' })
    assert.equal(code, 0, stdout + stderr)
    assert.match(stdout, /3 shown, 0 to be made, 0 removed and kept as drafts, 3 refused/)
    for (const { ref } of bad) {
      const verdict = await verdictOf(ref)
      assert.equal(verdict?.verdict, 'refused')
      assert.match(verdict?.reason ?? '', /gronfa ddata|did not keep/)
    }
    // Mended at the publisher's, each is shown; read anew, nothing of what was refused goes away or comes.
    await publish(
      service,
      bad.map(({ ref }) => ({ payload: property({ agent_ref: ref, media: [] }) })),
    )
    assert.equal((await site.command(['resync', '--rewrite'])).code, 0)
    assert.equal((await site.command(['sync'])).code, 0)
    await assertSiteIsTheFeed(site, service)
  })

  it('keeps what the site shows of a home whose next version the database refuses, and says so', async (context) => {
    const service = await begun(context)
    await refusing(context, 'property_events_listings', 'payload', 'PAYLOAD-NO')
    const ref = randomUUID()
    await publish(service, { payload: property({ agent_ref: ref, media: [] }) })
    assert.equal((await site.command(['sync'])).code, 0)
    await publish(service, { payload: property({ agent_ref: ref, branch_id: 'PAYLOAD-NO', media: [] }) })
    assert.equal((await site.command(['sync'])).code, 0)
    assert.equal((await postsOf(site)).get(ref)?.status, 'publish')
    assert.equal((await verdictOf(ref))?.verdict, 'refused')
    // A read of the whole feed takes nothing away that the feed still has.
    assert.equal((await site.command(['resync', '--rewrite'])).code, 0)
    assert.equal((await site.command(['sync'])).code, 0)
    assert.equal((await postsOf(site)).get(ref)?.status, 'publish')
    await publish(service, { remove: { agentRef: ref } })
    assert.equal((await site.command(['sync'])).code, 0)
    assert.equal((await postsOf(site)).get(ref)?.status, 'draft')
  })

  it('keeps what the site shows of a home whose next payload cannot be read, and says so', async (context) => {
    const service = await begun(context)
    const [known, unknown] = [randomUUID(), randomUUID()]
    await publish(service, { payload: property({ agent_ref: known, media: [] }) })
    assert.equal((await site.command(['sync'])).code, 0)
    // As PropertyFeed tells of it: no service of ours has such a payload.
    await site.php(`
      $store = \\PropertyEvents\\WordPress\\Store::open();
      $store->lock();
      $odd = fn ($ref, $number) => ['kind' => 'odd', 'ref' => $ref, 'number' => $number, 'payload' => [], 'event' => [], 'reason' => 'The payload is no object: tŷ.'];
      $copy = new \\PropertyEvents\\WordPress\\Copy($store);
      $copy->apply([$odd('${known}', 2), $odd('${unknown}', 3)], $copy->checkpoint(), ['startsOver' => true, 'complete' => true]);
      return $store->unlock();`)
    assert.equal((await site.command(['sync'])).code, 0)
    const shown = [...(await postsOf(site))].map(([ref, { status }]) => [ref, status])
    assert.deepEqual(shown, [[known, 'publish']])
    for (const ref of [known, unknown]) {
      const verdict = await verdictOf(ref)
      assert.deepEqual([verdict?.verdict, verdict?.reason], ['refused', 'The payload is no object: tŷ.'])
    }
  })

  it('tells a receiver all verdicts again once the feed is of another epoch, as after a restore', async (context) => {
    const service = await begun(context)
    const payload = property({ media: [] })
    await publish(service, { payload })
    assert.equal((await site.command(['sync'])).code, 0)
    const told = () =>
      site.php<number>(`
        $receiver = new class implements \\PropertyEvents\\WordPress\\VerdictReceiver {
          public int $told = 0;
          public function receive(array $verdicts): void { $this->told += count($verdicts); }
        };
        add_filter('property_events_verdict_receiver', fn () => $receiver);
        (new \\PropertyEvents\\WordPress\\Verdicts(\\PropertyEvents\\WordPress\\Store::open()))->deliver();
        return $receiver->told;`)
    assert.deepEqual([await told(), await told()], [1, 0])
    await service.storage.startEpoch(0, 'cli:test')
    const { code, stdout } = await site.command(['sync'])
    assert.equal(code, 0)
    assert.match(
      stdout,
      /The whole feed is read again: its numbers mean other events now, as after a restore\./,
    )
    assert.deepEqual([await told(), await told()], [1, 0])
  })

  it('fetches a picture again that was replaced at its address', async (context) => {
    const service = await begun(context)
    const ref = randomUUID()
    const path = `/changing-${ref}.png`
    const home = (on: string, caption: string) =>
      publish(service, {
        payload: property({ agent_ref: ref, media: [media(path, { media_update_date: on, caption })] }),
      })
    const shown = async () => {
      assert.equal((await site.command(['sync'])).code, 0)
      return site.php<readonly [string, number]>(
        `$id = (int) get_post_thumbnail_id(${(await postsOf(site)).get(ref)?.id}); return [md5_file(get_attached_file($id)), count(get_posts(['post_type' => 'attachment', 'posts_per_page' => -1]))];`,
      )
    }
    await home('01-02-2026 09:00:00', 'first')
    const [first] = await shown()
    await home('01-02-2026 09:00:00', 'the same picture with other words')
    assert.deepEqual(await shown(), [first, 1])
    assert.equal(pictures.asked.get(path), 1)
    await home('02-02-2026 09:00:00', 'first')
    const [second, attachments] = await shown()
    assert.notEqual(second, first)
    assert.equal(attachments, 1, 'the old picture goes')
    assert.equal(pictures.asked.get(path), 2)
  })

  it('shows a picture until the one that replaces it is here, and goes on showing it where that cannot be had', async (context) => {
    const service = await begun(context)
    const ref = randomUUID()
    const path = `/changing-${ref}.png`
    const home = (day: number, caption: string, others: readonly unknown[] = []) =>
      publish(service, {
        payload: property({
          agent_ref: ref,
          media: [media(path, { media_update_date: `0${day}-02-2026 09:00:00`, caption }), ...others],
        }),
      })
    /** The main photograph's bytes, the captions of all that the page shows, and how many the site keeps. */
    const shown = async () => {
      assert.equal((await site.command(['sync'])).code, 0)
      return site.php<readonly [string, readonly string[], number]>(
        `$post = ${(await postsOf(site)).get(ref)?.id};
         $file = get_attached_file((int) get_post_thumbnail_id($post));
         return [is_string($file) && is_file($file) ? md5_file($file) : 'none', array_column(property_events_photographs($post), 'caption'),
           count(get_posts(['post_type' => 'attachment', 'posts_per_page' => -1]))];`,
      )
    }
    await home(1, 'Tŷ – 2025')
    const [first] = await shown()
    pictures.faults.set(path, 'busy')
    await home(2, 'Tŷ – 2026')
    assert.deepEqual(await shown(), [first, ['Tŷ – 2026'], 1], 'while it may still come')
    await home(2, 'Gardd 🌳')
    assert.deepEqual(await shown(), [first, ['Gardd 🌳'], 1], 'with other words')
    pictures.faults.set(path, 'page')
    await home(3, 'Gardd 🌳', [media(`/good-${ref}.png`, { caption: 'Cegin', sort_order: 1 })])
    assert.deepEqual(await shown(), [first, ['Gardd 🌳', 'Cegin'], 2], 'where there is none')
    pictures.faults.delete(path)
    await home(4, 'Tŷ newydd')
    const [second, captions, kept] = await shown()
    assert.ok(second !== first && second !== 'none', second)
    assert.deepEqual([captions, kept], [['Tŷ newydd'], 1], 'once it is here, the old one goes')
    // What the listing has no more is not kept for it.
    pictures.faults.set(path, 'busy')
    await home(5, 'Tŷ newydd')
    await publish(service, { payload: property({ agent_ref: ref, media: [] }) })
    assert.equal((await site.command(['sync'])).code, 0)
    const left = `return count(get_posts(['post_type' => 'attachment', 'posts_per_page' => -1]));`
    assert.equal(await site.php(left), 0)
  })
})
