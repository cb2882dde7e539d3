/** The site's posts beside a fold of the feed that is written for the tests. */
import assert from 'node:assert/strict'
import { listing } from '../../../packages/client/src/listing/index.ts'
import { call, listPath, pageOf } from '../../../packages/server/test/support/http-client.ts'
import type { TestService } from '../../../packages/server/test/support/test-service.ts'
import type { WordPressSite } from './wordpress-site.ts'

export interface Post {
  readonly id: number
  readonly status: string
  readonly name: string
  readonly title: string
  readonly content: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly pictures: readonly string[]
}

/** Every post of the feed by its reference; two of one reference are a fault. */
export async function postsOf(site: WordPressSite): Promise<ReadonlyMap<string, Post>> {
  const posts = await site.php<readonly Post[]>(`
    global $wpdb;
    $posts = [];
    foreach ($wpdb->get_col("SELECT post_id FROM {$wpdb->postmeta} WHERE meta_key = 'property_events_ref'") as $id) {
      $post = get_post((int) $id);
      $fields = [];
      foreach (get_post_meta($post->ID) as $name => $values) {
        if (str_starts_with($name, 'property_events_')) $fields[substr($name, 16)] = maybe_unserialize($values[0]);
      }
      $pictures = array_map(fn ($one) => basename((string) get_attached_file($one['attachmentId'])), property_events_photographs($post));
      $posts[] = ['id' => $post->ID, 'status' => $post->post_status, 'name' => $post->post_name, 'title' => $post->post_title,
        'content' => $post->post_content, 'fields' => $fields, 'pictures' => $pictures];
    }
    return $posts;`)
  const byRef = new Map(posts.map((post) => [String(post.fields['ref']), post]))
  assert.equal(byRef.size, posts.length, 'no listing has two posts')
  return byRef
}

/** The latest payload of each property, null where it is not to be seen: of each page of the contract's list. */
export async function foldOf(service: TestService): Promise<ReadonlyMap<string, string | null>> {
  const latest = new Map<
    string,
    { readonly number: number; readonly payload: string; readonly isShown: boolean }
  >()
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const answer = await call(service, `${listPath}?page=${page}&pageSize=1000`, {
      key: service.tenant.readKey,
    })
    assert.equal(answer.status, 200, answer.text)
    const { items, totalPages } = pageOf(answer)
    pages = totalPages
    for (const { sequenceNumber, payload } of items) {
      const value = JSON.parse(payload) as { readonly agent_ref: string; readonly published: boolean }
      const ref = value.agent_ref.toLowerCase()
      if (sequenceNumber > (latest.get(ref)?.number ?? 0)) {
        latest.set(ref, { number: sequenceNumber, payload, isShown: value.published })
      }
    }
  }
  return new Map([...latest].map(([ref, { payload, isShown }]) => [ref, isShown ? payload : null]))
}

/** Throws where a visitor of the site would see something else than the feed says. */
export async function assertSiteIsTheFeed(
  site: WordPressSite,
  service: TestService,
): Promise<ReadonlyMap<string, Post>> {
  const [posts, fold] = [await postsOf(site), await foldOf(service)]
  const shown = [...posts].filter(([, { status }]) => status === 'publish').map(([ref]) => ref)
  const expected = [...fold].filter(([, payload]) => payload !== null).map(([ref]) => ref)
  assert.deepEqual(shown.sort(), expected.sort(), 'the same listings')
  for (const [ref, payload] of fold) {
    const post = posts.get(ref)
    if (payload === null) {
      assert.ok(post === undefined || post.status === 'draft', `${ref} is a draft or nothing`)
      continue
    }
    assert.ok(post !== undefined)
    // The client's own listing model, in the other language, is the oracle.
    const home = listing(payload) ?? assert.fail(payload)
    const { fields } = post
    assert.deepEqual(
      [
        fields['price_text'],
        fields['status'],
        fields['category'],
        fields['bedrooms'],
        fields['address'],
        fields['type'],
      ],
      [
        home.price.text ?? '',
        home.status?.name ?? '',
        home.category,
        String(home.bedrooms ?? ''),
        home.address.display ?? '',
        home.type?.name ?? '',
      ],
    )
    const position = [fields['latitude'], fields['longitude']].map((text) =>
      text === '' ? undefined : Number(text),
    )
    assert.deepEqual(position, [home.address.position?.latitude, home.address.position?.longitude])
    const inert = home.description.html
      .replaceAll('[', '&#091;')
      .replaceAll(']', '&#093;')
      .replaceAll('://', ':&#047;&#047;')
    assert.equal(post.content, inert)
    assert.deepEqual(fields['features'], home.features)
  }
  return posts
}
