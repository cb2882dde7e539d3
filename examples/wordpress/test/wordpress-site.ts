/** A whole WordPress for tests: Debian's, in a folder of its own, on a MariaDB of its own that listens on a socket alone. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../../../packages/server/test/support/free-ports.ts'
import { makePluginZip } from '../../../scripts/wordpress-zip.ts'

const wordpress = '/usr/share/wordpress'
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}${delimiter}/usr/sbin` }

/** A sentence that says what has to be installed, or undefined. */
export function whatIsMissing(): string | undefined {
  const has = (command: string, ...words: readonly string[]) =>
    spawnSync(command, words, { env }).status === 0
  const missing = [
    ...(existsSync(join(wordpress, 'wp-settings.php')) ? [] : ['wordpress']),
    ...(has('mariadbd', '--version') && has('sh', '-c', 'command -v mariadb-install-db')
      ? []
      : ['mariadb-server']),
    ...(has('php', '-r', 'exit(extension_loaded("mysqli") ? 0 : 1);') ? [] : ['php-cli php-mysql']),
    ...(has('php', '-r', 'exit(extension_loaded("gd") ? 0 : 1);') ? [] : ['php-gd']),
    ...(existsSync(join(wordpress, 'wp-content/themes/twentytwentyone'))
      ? []
      : ['wordpress-theme-twentytwentyone']),
    ...(has('unzip', '-v') ? [] : ['unzip']),
  ]
  return missing.length === 0
    ? undefined
    : `For these tests a WordPress is needed: apt-get install --no-install-recommends ${missing.join(' ')}.`
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface ScriptOptions {
  readonly memoryLimit?: string
  /** SIGKILL, if it has not ended by then. */
  readonly killAfterMs?: number
  /** SIGKILL before this statement to the database, counted from 1: the same on every machine. */
  readonly killBeforeStatement?: number
  readonly environment?: Readonly<Record<string, string>>
}

export interface CronRun {
  /** The most memory that PHP had of the system. */
  readonly bytes: number
  /** Without the time in which WordPress starts. */
  readonly ms: number
  /** To the database. */
  readonly statements: number
}

export interface WordPressSite {
  readonly folder: string
  readonly url: string
  readonly administrator: { readonly name: string; readonly password: string }
  /** Runs PHP with WordPress loaded, and gives back what it returns, through JSON. */
  php<T>(code: string, options?: ScriptOptions): Promise<T>
  /** `wp property-events …`, with a stub of WP-CLI that calls the command's class as WP-CLI does. */
  command(words: readonly string[], options?: ScriptOptions): Promise<Ended>
  /** Makes WP-Cron's events due, and runs them as a cron job of the host does. Undefined: it was killed. */
  cron(options?: ScriptOptions): Promise<CronRun | undefined>
  /** What PHP has complained of in our files. */
  complaints(): string
  stop(): Promise<void>
}

export async function startWordPress(): Promise<WordPressSite> {
  const folder = mkdtempSync(join(tmpdir(), 'property-events-wordpress-'))
  chmodSync(folder, 0o755)
  const started: ChildProcess[] = []
  const stop = async () => {
    for (const child of started.toReversed()) await ended(child, 'SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const socket = await startDatabase(folder, started)
    const site = join(folder, 'site')
    cpSync(wordpress, site, {
      recursive: true,
      dereference: true,
      filter: (path) => !path.endsWith('.htaccess'),
    })
    const [port = 0] = await freePorts(1)
    const url = `http://127.0.0.1:${port}`
    writeFileSync(join(site, 'wp-config.php'), configuration(socket, url, folder))
    mkdirSync(join(site, 'wp-content/mu-plugins'), { recursive: true })
    writeFileSync(join(site, 'wp-content/mu-plugins/test.php'), mustUsePlugin)
    installPlugin(folder, site)
    const administrator = { name: 'admin', password: 'a-password-for-tests' }
    const scripts = scriptsOf(folder, site)
    await scripts.php(
      `require_once ABSPATH . 'wp-admin/includes/upgrade.php';
       wp_install('Hill & Co', '${administrator.name}', 'admin@example.com', false, '', '${administrator.password}');
       switch_theme('twentytwentyone');
       update_option('permalink_structure', '/%postname%/');
       require_once ABSPATH . 'wp-admin/includes/plugin.php';
       $failed = activate_plugin('property-events/property-events.php');
       if (is_wp_error($failed)) throw new Exception($failed->get_error_message());`,
      { environment: { WP_INSTALLING: '1' } },
    )
    // So that the rules of addresses are those of a whole start.
    await scripts.php('return get_option("rewrite_rules") !== "";')
    const web = spawn('php', ['-S', `127.0.0.1:${port}`, '-t', site, join(folder, 'router.php')], {
      env: { ...env, PHP_CLI_SERVER_WORKERS: '3' },
      stdio: 'ignore',
      detached: true,
    })
    started.push(web)
    await until(
      async () => (await fetch(`${url}/?answers`).catch(() => undefined))?.ok === true,
      'the site answers',
    )
    const log = join(folder, 'debug.log')
    return {
      folder,
      url,
      administrator,
      ...scripts,
      complaints: () =>
        (existsSync(log) ? readFileSync(log, 'utf8') : '')
          .split('\n')
          .filter((line) => line.includes('/plugins/property-events/'))
          .join('\n'),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** An empty site that reads this service. */
export async function beginAnew(site: WordPressSite, feedUrl: string, key: string): Promise<void> {
  await site.php(`
    global $wpdb;
    foreach ($wpdb->get_col("SELECT post_id FROM {$wpdb->postmeta} WHERE meta_key = 'property_events_ref'") as $id) wp_delete_post((int) $id, true);
    foreach (get_posts(['post_type' => 'attachment', 'posts_per_page' => -1, 'fields' => 'ids']) as $id) wp_delete_attachment($id, true);
    foreach (['images', 'links', 'listings'] as $table) $wpdb->query("TRUNCATE {$wpdb->prefix}property_events_$table");
    $wpdb->query("REPLACE INTO {$wpdb->prefix}property_events_state (id, checkpoint, message) VALUES (1, '', '')");
    update_option('property_events_settings', ['url' => '${feedUrl}', 'key' => '${key}',
      'post_type' => 'property_listing', 'interval_minutes' => 5], false);
    return true;`)
}

/** Waits until it is so, for half a minute at most. */
export async function until(isSo: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await isSo()) return
    await delay(100)
  }
  assert.fail(`not within 30 s: ${what}`)
}

/** As `mysql` where the tests run as root, whom MariaDB refuses. */
async function startDatabase(folder: string, started: ChildProcess[]): Promise<string> {
  const data = join(folder, 'database')
  const socket = join(folder, 'database.sock')
  const isRoot = process.getuid?.() === 0
  mkdirSync(data)
  if (isRoot) spawnSync('chown', ['mysql', data, folder])
  const user = isRoot ? ['--user=mysql'] : []
  const made = spawnSync(
    'mariadb-install-db',
    [
      '--no-defaults',
      `--datadir=${data}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      ...user,
    ],
    { env, encoding: 'utf8' },
  )
  assert.equal(made.status, 0, made.stdout + made.stderr)
  // PHP is killed in these tests, and not the database: it needs no fsync.
  const options = [
    `--datadir=${data}`,
    `--socket=${socket}`,
    '--skip-networking',
    '--innodb-flush-log-at-trx-commit=0',
    `--pid-file=${data}/pid`,
    ...user,
  ]
  const server = spawn('mariadbd', ['--no-defaults', ...options], { env, stdio: 'ignore', detached: true })
  started.push(server)
  const ask = (sql: string) =>
    spawnSync('mariadb', ['--no-defaults', `--socket=${socket}`, '--user=root', '-e', sql]).status === 0
  await until(() => ask('SELECT 1'), 'MariaDB answers')
  assert.ok(ask('CREATE DATABASE wordpress CHARACTER SET utf8mb4'))
  return socket
}

/** From the zip, as a site gets it. */
function installPlugin(folder: string, site: string): void {
  const { path } = makePluginZip(folder)
  const unzipped = spawnSync('unzip', ['-q', path, '-d', join(site, 'wp-content/plugins')], {
    encoding: 'utf8',
  })
  assert.equal(unzipped.status, 0, unzipped.stderr)
}

function scriptsOf(folder: string, site: string) {
  writeFileSync(join(folder, 'script.php'), loader(site))
  writeFileSync(join(folder, 'command.php'), commandLine(site))
  writeFileSync(join(folder, 'router.php'), router(site))
  async function php<T>(code: string, options: ScriptOptions = {}): Promise<T> {
    const answer = await answerOf<T>(code, options)
    assert.ok(answer !== undefined, 'it was killed')
    return answer
  }
  async function answerOf<T>(code: string, options: ScriptOptions = {}): Promise<T | undefined> {
    const { code: status, signal, stdout, stderr } = await runPhp([join(folder, 'script.php'), code], options)
    if (signal === 'SIGKILL') return undefined
    assert.equal(status, 0, stdout + stderr)
    const answer = /^ANSWER (.*)$/m.exec(stdout)?.[1]
    assert.ok(answer !== undefined, stdout + stderr)
    return JSON.parse(answer) as T
  }
  return {
    php,
    command: (words: readonly string[], options: ScriptOptions = {}) =>
      runPhp([join(folder, 'command.php'), ...words], options),
    cron: (options: ScriptOptions = {}) => answerOf<CronRun>(cronCode, options),
  }
}

function runPhp(words: readonly string[], options: ScriptOptions): Promise<Ended> {
  const limit = options.memoryLimit === undefined ? [] : ['-d', `memory_limit=${options.memoryLimit}`]
  return new Promise((resolve, reject) => {
    const child = spawn('php', ['-d', 'display_errors=stderr', ...limit, ...words], {
      env: { ...env, KILL_BEFORE: String(options.killBeforeStatement ?? 0), ...options.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const killer =
      options.killAfterMs === undefined
        ? undefined
        : setTimeout(() => child.kill('SIGKILL'), options.killAfterMs)
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => (stdout += String(chunk)))
    child.stderr.on('data', (chunk) => (stderr += String(chunk)))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(killer)
      resolve({ code, signal, stdout, stderr })
    })
  })
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  // The group: PHP's server has workers.
  process.kill(-child.pid, signal)
  await Promise.race([gone, delay(20_000).then(() => process.kill(-(child.pid ?? 0), 'SIGKILL'))])
}

/** Nothing leaves the machine. */
function configuration(socket: string, url: string, folder: string): string {
  return `<?php
define('DB_NAME', 'wordpress'); define('DB_USER', 'root'); define('DB_PASSWORD', ''); define('DB_HOST', 'localhost:${socket}');
define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', ''); $table_prefix = 'wp_';
foreach (['AUTH_KEY', 'SECURE_AUTH_KEY', 'LOGGED_IN_KEY', 'NONCE_KEY', 'AUTH_SALT', 'SECURE_AUTH_SALT', 'LOGGED_IN_SALT', 'NONCE_SALT'] as $name) define($name, $name);
define('WP_HOME', '${url}'); define('WP_SITEURL', '${url}');
define('DISABLE_WP_CRON', !file_exists('${folder}/cron-by-visitors')); define('AUTOMATIC_UPDATER_DISABLED', true);
define('WP_HTTP_BLOCK_EXTERNAL', true); define('WP_ACCESSIBLE_HOSTS', '127.0.0.1');
define('WP_DEBUG', true); define('WP_DEBUG_DISPLAY', false); define('WP_DEBUG_LOG', '${folder}/debug.log');
if (getenv('WP_INSTALLING')) define('WP_INSTALLING', true);
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
`
}

/** The pictures of the tests lie on this machine, where WordPress goes for nobody. */
const mustUsePlugin = `<?php
// A file beside the site stands for what somebody has written into wp-config.php.
if (file_exists(dirname(ABSPATH) . '/constants.php')) require dirname(ABSPATH) . '/constants.php';
if (!getenv('STRANGERS_ONLY')) {
  add_filter('http_request_host_is_external', fn ($is, $host) => $is || $host === '127.0.0.1', 10, 2);
  add_filter('http_allowed_safe_ports', fn ($ports, $host, $url) => [...$ports, (int) parse_url($url, PHP_URL_PORT)], 10, 3);
}
add_filter('property_events_refuse', fn ($reason, $listing) => ($listing['agentReference'] ?? '') === 'REFUSE-ME' ? 'The site does not want it.' : $reason, 10, 2);
add_filter('property_events_refuse', function ($reason, $listing) {
  if (($listing['agentReference'] ?? '') === 'KILL-ME') posix_kill(getmypid(), 9);
  return $reason;
}, 10, 2);
add_filter('pre_wp_mail', '__return_true');
$statements = 0;
add_filter('query', static function (string $sql) use (&$statements): string {
  if (++$statements === (int) getenv('KILL_BEFORE')) posix_kill(getmypid(), 9);
  return $sql;
});
`

const loader = (site: string) => `<?php
$_SERVER['HTTP_HOST'] = '127.0.0.1'; $_SERVER['REQUEST_METHOD'] = 'GET';
require '${site}/wp-load.php';
$answer = (static fn () => eval($argv[1]))();
echo "\\nANSWER ", json_encode($answer), "\\n";
`

const commandLine = (site: string) => `<?php
$_SERVER['HTTP_HOST'] = '127.0.0.1';
final class WP_CLI {
  public static array $commands = [];
  public static function add_command(string $name, string $class): void { self::$commands[$name] = $class; }
  public static function log(string $line): void { echo "$line\\n"; }
  public static function success(string $line): void { echo "Success: $line\\n"; }
  public static function error(string $line): void { fwrite(STDERR, "Error: $line\\n"); exit(1); }
}
define('WP_CLI', true);
require '${site}/wp-load.php';
$words = array_slice($argv, 1);
$flags = [];
foreach ($words as $index => $word) {
  if (!str_starts_with($word, '--')) continue;
  [$name, $value] = array_pad(explode('=', substr($word, 2), 2), 2, true);
  if (str_starts_with($name, 'no-')) [$name, $value] = [substr($name, 3), false];
  $flags[$name] = $value;
  unset($words[$index]);
}
$words = array_values($words);
$command = new (WP_CLI::$commands['property-events'])();
$verb = array_shift($words);
$command->$verb($words, $flags);
fprintf(STDERR, "PEAK %d\\n", memory_get_peak_usage(true));
`

/** Each event is due at once; the others of WordPress are left alone, since they ask outside hosts. */
const cronCode = `
$began = hrtime(true);
foreach (['property_events_run', 'property_events_run_on'] as $hook) {
  $event = wp_get_scheduled_event($hook);
  if ($event === false) continue;
  if ($event->schedule === false) wp_unschedule_event($event->timestamp, $hook);
  do_action($hook);
}
return ['bytes' => memory_get_peak_usage(true), 'ms' => (hrtime(true) - $began) / 1e6, 'statements' => $GLOBALS['wpdb']->num_queries];`

const router = (site: string) => `<?php
$path = '${site}' . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (is_file($path) || is_file("$path/index.php") && $path !== '${site}/') return false;
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/index.php';
require '${site}/index.php';
`
