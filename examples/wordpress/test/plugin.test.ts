/** The plugin without WordPress: its zip, its syntax, and what it decides without asking anybody. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { templateOf } from '../../../scripts/wordpress-pot.ts'
import { makePluginZip, pluginFiles } from '../../../scripts/wordpress-zip.ts'
import { webAddresses } from '../../../packages/protocol/test/payload/web-addresses.ts'
import { picture } from './picture-server.ts'

const root = join(import.meta.dirname, '../../..')
const source = join(root, 'examples/wordpress/property-events/src')
const folder = mkdtempSync(join(tmpdir(), 'property-events-plugin-'))
after(() => rmSync(folder, { recursive: true }))

const has = (command: string, word: string) => spawnSync(command, [word]).status === 0
const withPhp = {
  skip: has('php', '--version') ? false : 'php is not installed here (apt-get install php-cli): not tried',
}
const withUnzip = {
  skip: has('unzip', '-v') ? false : 'unzip is not installed here (apt-get install unzip): not tried',
}

/** What a PHP expression gives, with the plugin's classes at hand and no WordPress. */
function php(code: string): unknown {
  const start = `spl_autoload_register(fn ($class) => require '${source}/' . basename(str_replace('\\\\', '/', $class)) . '.php');
    use PropertyEvents\\WordPress\\{Budget, PictureException, PictureFile, PostContent, Settings};
    require '${join(root, 'examples/php/PropertyListing.php')}';
    function __(string $text) { return $text; }`
  const { status, stdout, stderr } = spawnSync(
    'php',
    ['-d', 'error_reporting=-1', '-d', 'display_errors=stderr', '-r', `${start} echo json_encode(${code});`],
    {
      encoding: 'utf8',
    },
  )
  assert.deepEqual([status, stderr], [0, ''], stdout)
  return JSON.parse(stdout)
}

describe('the zip of the plugin', () => {
  it('is the same bytes each time, with the version and the licence of the repository', () => {
    const [one, other] = [makePluginZip(join(folder, 'one')), makePluginZip(join(folder, 'other'))]
    assert.equal(one.sha256, other.sha256)
    const files = new Map(pluginFiles().map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    assert.ok(files.get('property-events/property-events.php')?.includes(` * Version: ${version}\n`))
    assert.ok(files.get('property-events/property-events.php')?.includes(`const VERSION = '${version}';`))
    assert.ok(files.get('property-events/readme.txt')?.includes(`\nStable tag: ${version}\n`))
    assert.match(files.get('property-events/readme.txt') ?? '', /^Tested up to: \d+\.\d+$/m)
    assert.equal(files.get('property-events/LICENSE'), readFileSync(join(root, 'LICENSE'), 'utf8'))
    for (const name of ['PropertyFeed.php', 'PropertyListing.php', 'PropertyWebhook.php', 'CodeNames.php']) {
      assert.equal(
        files.get(`property-events/lib/${name}`),
        readFileSync(join(root, 'examples/php', name), 'utf8'),
      )
    }
    assert.deepEqual(
      [...files.keys()].filter((path) => /test|node_modules/.test(path)),
      [],
    )
  })

  it('carries a template for translations with every text that a person sees', () => {
    const files = pluginFiles().map(({ path, bytes }) => ({ path, text: Buffer.from(bytes).toString() }))
    const kept = files.find(({ path }) => path.endsWith('languages/property-events.pot'))?.text
    assert.equal(kept, templateOf(files), 'write it again: npm run wordpress-pot')
    // What stands in the pages is a text of the template: a sentence that begins a paragraph, heading or label is none of PHP's own.
    const pages = files.filter(({ path }) => /(?:Page|Columns|Status|Type)\.php$/.test(path))
    for (const { path, text } of pages) {
      assert.doesNotMatch(text, /<(?:p|h1|h2|th|label|button)[^>]*>(?!Property Events<)[A-Z][a-z]+/, path)
    }
  })

  it('unpacks as it was packed', withUnzip, () => {
    const { path } = makePluginZip(folder)
    const unpacked = join(folder, 'unpacked')
    assert.equal(spawnSync('unzip', ['-q', path, '-d', unpacked]).status, 0)
    for (const { path, bytes } of pluginFiles())
      assert.deepEqual(readFileSync(join(unpacked, path)), Buffer.from(bytes))
  })

  it('is PHP that PHP takes', withPhp, () => {
    const names = pluginFiles()
      .filter(({ path }) => path.endsWith('.php'))
      .map(({ path, bytes }) => {
        const file = join(folder, path.replaceAll('/', '-'))
        writeFileSync(file, bytes)
        return file
      })
    const check =
      'foreach (array_slice($argv, 1) as $file) { token_get_all(file_get_contents($file), TOKEN_PARSE); }'
    const { status, stdout } = spawnSync('php', ['-r', check, ...names], { encoding: 'utf8' })
    assert.equal(status, 0, stdout)
  })
})

describe('the plugin', () => {
  it('makes titles, texts and fields of a payload, in which nothing is run or fetched', withPhp, () => {
    const payload = {
      agent_ref: 'A',
      address: { display_address: `<b>"Rose & Crown"</b>` },
      price_information: { price: 450_000, price_qualifier: 2 },
      details: {
        summary: 'See [gallery] <i>',
        description: `<p onclick="x">[gallery ids="1"]</p><p>https://example.com/</p><script>alert(1)</script>`,
      },
    }
    const post = php(
      `PostContent::of(PropertyListing::of(json_decode(${JSON.stringify(JSON.stringify(payload))}, true)))`,
    ) as Readonly<Record<string, unknown>>
    assert.equal(post['post_title'], '&lt;b&gt;&quot;Rose &amp; Crown&quot;&lt;/b&gt;')
    assert.equal(
      post['post_content'],
      '<p>&#091;gallery ids=&quot;1&quot;&#093;</p><p>https:&#047;&#047;example.com/</p>',
    )
    assert.equal(post['post_excerpt'], 'See &#091;gallery&#093;')
    const fields = post['meta_input'] as Readonly<Record<string, unknown>>
    assert.deepEqual(
      ['ref', 'price_text', 'price', 'category', 'bedrooms', 'latitude'].map(
        (name) => fields[`property_events_${name}`],
      ),
      ['a', 'Guide Price £450,000', '450000', 'sales', '', ''],
    )
    // A payload of nothing is still a listing; one of long texts is cut.
    assert.equal(php("PostContent::of(PropertyListing::of([]))['post_title']"), 'Property')
    const long = php(
      `PostContent::of(PropertyListing::of(['address' => ['display_address' => str_repeat('🏡', 1000)]]))['post_title']`,
    )
    assert.equal(long, '🏡'.repeat(500))
  })

  it('links to what the table of addresses says is shown, and to nothing else', withPhp, () => {
    const payload = { media: webAddresses.map(({ sent }) => ({ media_type: 4, media_url: sent })) }
    writeFileSync(join(folder, 'addresses.json'), JSON.stringify(payload))
    const tours = `PostContent::of(PropertyListing::of(json_decode(file_get_contents('${join(folder, 'addresses.json')}'), true)))['meta_input']['property_events_tours']`
    const links = php(tours) as readonly { readonly url: string }[]
    const expected = new Set(webAddresses.flatMap(({ shown }) => shown ?? []))
    assert.deepEqual(new Set(links.map(({ url }) => url)), expected)
    assert.equal(links.length, expected.size)
  })

  it('dates a post by the day that the agency names, unless that day is to come', withPhp, () => {
    const dates = php(
      `[PostContent::dateOf('2026-01-31', '2026-01-31'), PostContent::dateOf('2026-02-01', '2026-01-31'), PostContent::dateOf(null, '2026-01-31')]`,
    )
    assert.deepEqual(dates, ['2026-01-31 00:00:00', null, null])
  })

  it('takes addresses that a key may be sent to, and no others', withPhp, () => {
    const good = [
      'https://feed.example.com',
      'https://feed.example.com:8443/base',
      'http://127.0.0.1:8080',
      'http://localhost',
      'http://[::1]:80',
    ]
    const bad = [
      '',
      'feed.example.com',
      'http://feed.example.com',
      'http://127.0.0.1.example.com',
      'https://u:p@example.com',
      'https://a b',
      'https://a/?key=1',
      'https://a#b',
      'ftp://a',
      'javascript:alert(1)',
      'https://',
      'https://a"b',
    ]
    const faults = php(
      `array_map(Settings::addressFault(...), json_decode(${JSON.stringify(JSON.stringify([...good, ...bad]))}))`,
    ) as readonly (string | null)[]
    assert.deepEqual(
      faults.map((fault) => fault === null),
      [...good.map(() => true), ...bad.map(() => false)],
    )
  })

  it(
    'takes secrets of webhooks as they are shown, one or two, keeps what is left empty, and forgets at "off"',
    withPhp,
    () => {
      const [one, two] = [1, 2].map((fill) => `whsec_${Buffer.alloc(32, fill).toString('base64')}`)
      const sent = (secret: string, kept = '') =>
        php(`(function () {
        $kept = new Settings('https://feed.example.com', 'pev_1', webhookSecret: '${kept}');
        $form = ['url' => $kept->url, 'post_type' => 'property_listing', 'interval_minutes' => '5', 'webhook_secret' => '${secret}'];
        [$settings, $faults] = Settings::fromForm($form, $kept, ['property_listing']);
        return $faults === [] ? $settings->webhookSecrets() : $faults;
      })()`)
      assert.deepEqual(sent(` ${one} `), [one])
      assert.deepEqual(sent(`${one}  ${two}`), [one, two])
      assert.deepEqual(sent('', one), [one])
      assert.deepEqual(sent('off', one), [])
      assert.deepEqual(sent(''), [])
      for (const wrong of ['hush', 'whsec_', 'whsec_tŷ', `${one} hush`, `${one},${two}`]) {
        assert.match(String(sent(wrong)), /must be as it was shown: whsec_/, wrong)
      }
    },
  )

  it('uses no more time than the host gives, less five seconds', withPhp, () => {
    assert.deepEqual(
      php('array_map(fn ($allowed) => Budget::secondsWithin($allowed, 20), [0, 30, 25, 24, 10, 3])'),
      [20, 20, 20, 19, 5, 1],
    )
  })

  it('tells pictures from what only says that it is one, and joins what came in chunks', withPhp, () => {
    const png = picture('a', 40, 30)
    const chunked = Buffer.concat([
      Buffer.from(`${(100).toString(16)}\r\n`),
      png.subarray(0, 100),
      Buffer.from('\r\n'),
      Buffer.from(`${(png.length - 100).toString(16)};x=1\r\n`),
      png.subarray(100),
      Buffer.from('\r\n0\r\n\r\n'),
    ])
    const files = {
      whole: png,
      chunked,
      cut: chunked.subarray(0, 150),
      text: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      empty: Buffer.alloc(0),
    }
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, `${name}.part`), bytes)
    const read = `array_map(function (string $name) {
      $path = '${folder}/' . $name . '.part';
      try { PictureFile::joinChunks($path); return PictureFile::check($path); } catch (PictureException $problem) { return $problem->getMessage(); }
    }, ${JSON.stringify(Object.keys(files))})`
    assert.deepEqual(php(read), [
      ['image/png', 40, 30],
      ['image/png', 40, 30],
      'The picture was cut off.',
      'It is no JPEG, PNG, WebP or GIF.',
      'The picture is empty.',
    ])
    assert.deepEqual(readFileSync(join(folder, 'chunked.part')), png)
  })
})
