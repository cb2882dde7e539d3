import type { Command } from 'commander'
import { commandLine } from '../program-name.ts'
import { styleOf } from '../terminal-style.ts'

/**
 * Examples of every command, for its help: what it does, then the words after the program's name. A test parses each, so none names an
 * option that does not exist. Service and key come from PROPERTY_EVENTS_URL and PROPERTY_EVENTS_KEY, the store from ./data.
 */
type Example = readonly [does: string, words: string]

const homeReference = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'
const contactReference = '5f0c6c58-3b0e-4c8f-8f0a-6f3f9f6f0c11'
const eventId = '0194b3e0-0000-7000-8000-00000000aaaa'
const tenantId = '7d1c3a54-5c1e-4c4f-8e0b-6a1f0e9b2c33'
const webhookId = '0194b3e0-0000-7000-8000-00000000bbbb'
const keyId = 'La74n6cBwVE0'
const database = '--database postgres://feed@db.example.com/feed'

/** By the words of the command; the program's own under the empty text. */
export const examples: Readonly<Record<string, readonly Example[]>> = {
  '': [
    ['a service with an invented market, a console link, keys and a ready-made curl command', 'demo'],
    ['a JSON file for each property, kept up to date', 'sync ./properties --follow'],
    ['what a command does, and its options', 'help sync'],
  ],
  serve: [
    ['a store in ./data, for this machine', 'serve'],
    ['for a network', 'serve --host 0.0.0.0'],
    ['one of several nodes of a store in PostgreSQL', `serve ${database}`],
    ['with the console, behind a proxy', 'serve --console --url https://feed.example.com'],
  ],
  demo: [
    ['a market that changes every few seconds', 'demo'],
    ['one that does not change', 'demo --no-live'],
    ['beside a service on the usual port', 'demo --data ./demo --port 0'],
  ],
  env: [
    ['address and keys as variables, for the commands in the documents', 'env'],
    ['of another agency', 'env --tenant "Garthwick Moor"'],
  ],
  console: [
    ['sign in to the console of a service that runs', 'console'],
    ['of a store in PostgreSQL, with a key of your own', `console ${database} --key pev_…`],
  ],
  migrate: [['as the owner of the tables, before a new version is started', `migrate ${database}`]],
  doctor: [
    ['check a store and the machine it is on', 'doctor'],
    ['for a monitor', 'doctor --json'],
  ],
  'config print': [['what serve would start with, and from where', 'config print']],
  'tenants create': [['an agency that publishes here', 'tenants create "Hill & Co"']],
  'tenants rename': [['after a sale', 'tenants rename "Hill & Co" "Hill & Sons"']],
  'tenants import': [['many agencies and their keys at once', 'tenants import agencies.ndjson']],
  'tenants list': [['with their ids', 'tenants list']],
  'tenants suspend': [
    ['refuse every key of one', 'tenants suspend "Hill & Co"'],
    ['one that leaves, so that its properties go from websites', 'tenants suspend "Hill & Co" --unpublish'],
  ],
  'tenants expect': [
    ['an agency that publishes every day', 'tenants expect "Hill & Co" 1d'],
    ['one that publishes when it likes', 'tenants expect "Hill & Co" never'],
  ],
  'tenants delete': [
    ['what would be deleted', 'tenants delete "Hill & Co" --dry-run'],
    ['one that has left, exported first', 'tenants delete "Hill & Co" --export hill.db'],
  ],
  'tenants deletions': [['certificates, as JSON', 'tenants deletions --json']],
  'tenants resume': [['let its keys work again', 'tenants resume "Hill & Co"']],
  'tenants duties': [['no warnings of duties by law in its receipts', 'tenants duties "Hill & Co" off']],
  'keys create': [
    ['for the operator of the service', 'keys create --operator --scope admin:inspect --label desk'],
    ['for a website', 'keys create --tenant "Hill & Co" --scope property:read --label website'],
    [
      'for the website of one office',
      'keys create --tenant "Hill & Co" --scope property:read --branch Fell --label "Fell website"',
    ],
    ['for a developer, without live data', 'keys create --test --label "new website"'],
    ['for an agency’s system', 'keys create --tenant "Hill & Co" --scope publish --label CRM --expires 52w'],
    [
      'for a portal of several agencies',
      'keys create --tenant "Hill & Co" --tenant Dale --scope property:read',
    ],
    [
      'for the public property importer for WordPress',
      'keys create --tenant "Hill & Co" --scope property:read --reader wordpress-importer',
    ],
    [
      'for a partner, some of some contacts',
      'keys create --tenant "Hill & Co" --scope contact:read --contact-roles vendor,buyer --contact-fields last_name,communications',
    ],
  ],
  'keys rotate': [['with a week for the change', `keys rotate ${keyId} --overlap 7d`]],
  'keys list': [['of one tenant', 'keys list --tenant "Hill & Co"']],
  'keys revoke': [['for good', `keys revoke ${keyId}`]],
  'keys expire': [['in a week, when the new one is in use', `keys expire ${keyId} 7d`]],
  'keys rate': [
    ['20 requests a second', `keys rate ${keyId} 20`],
    ['as all others', `keys rate ${keyId} default`],
  ],
  'branches move': [
    [
      'how many properties that would be',
      'branches move --tenant "Hill & Co" --from Dale --to Fell --dry-run',
    ],
    ['after two offices became one', 'branches move --tenant "Hill & Co" --from Dale --to Fell'],
  ],
  'keys usage': [
    ['of the last two days, hour by hour', `keys usage ${keyId}`],
    ['of a year', `keys usage ${keyId} --days 365`],
  ],
  'keys expect': [
    ['a website that polls every five minutes', `keys expect ${keyId} 30m --consumer website`],
    ['with a learned interval again', `keys expect ${keyId} learned`],
  ],
  'pepper status': [['how many keys each pepper still has', 'pepper status']],
  'pepper finish': [['when every node knows the new one', 'pepper finish']],
  'audit list': [
    ['keys that were revoked since new year', 'audit list --action key.revoked --from 2026-01-01'],
  ],
  'audit export': [['to write-once storage', 'audit export --follow']],
  'audit name': [['who uses a key', 'audit name key:ab12cd34ef56 "Front office"']],
  'audit forget': [['when somebody has left', 'audit forget key:ab12cd34ef56']],
  'audit prune': [['rows older than seven years', 'audit prune --keep 7y']],
  publish: [
    ['the changes since the last file', 'publish listings.ndjson'],
    ['check a file without publishing it', 'publish listings.ndjson --dry-run'],
    ['from another program', 'publish -'],
  ],
  publications: [
    ['of an agency, minute by minute', 'publications --tenant "Hill & Co"'],
    ['what it was refused today', 'publications --tenant "Hill & Co" --refused --from 24h'],
  ],
  reference: [
    ['for a property that the agency calls REF-1', `reference REF-1 --tenant ${tenantId} --channel sales`],
  ],
  generate: [
    ['a nightly file of fifty invented homes', 'generate --properties 50'],
    ['their history: price changes, sales, removals', 'generate --events 500'],
  ],
  'events list': [
    ['the first page', 'events list'],
    ['sales since a given day', 'events list --type salesproperty --from 2026-01-31'],
  ],
  'events get': [['with its payload', `events get ${eventId}`]],
  'events tail': [
    ['the last ten, and new ones as they come', 'events tail'],
    ['for a program, as lines of JSON', 'events tail --last 100 --no-follow --json'],
  ],
  'events erase': [['how much it would erase', `events erase ${eventId} --dry-run`]],
  'properties get': [['as it is now', `properties get ${homeReference}`]],
  'properties history': [['every version, and what changed', `properties history ${homeReference}`]],
  'properties duties': [['of the agency of the key', 'properties duties']],
  'properties terms': [
    ['as it was advertised at the end of a day', `properties terms ${homeReference} --at 2026-01-31`],
    ['the same as a page to print', `properties terms ${homeReference} --at 2026-01-31 --html`],
  ],
  'properties find': [['by a part of its address', 'properties find "mill lane" --tenant "Hill & Co"']],
  'properties erase': [['how much it would erase', `properties erase ${homeReference} --dry-run`]],
  'webhooks create': [
    ['post new events to a website', 'webhooks create https://www.example.com/hooks --label website'],
    ['only as the sign to read the feed', 'webhooks create https://www.example.com/hooks --thin --latest'],
  ],
  'webhooks list': [['how far each is, and what waits', 'webhooks list']],
  'webhooks deliveries': [
    ['what was answered', `webhooks deliveries ${webhookId}`],
    ['only what was refused', `webhooks deliveries ${webhookId} --outcome refused`],
  ],
  'webhooks test': [['before the first event comes', `webhooks test ${webhookId}`]],
  'webhooks secret': [
    ['a new one, while the present one signs for a day more', `webhooks secret ${webhookId}`],
  ],
  'webhooks pause': [['while the website is moved', `webhooks pause ${webhookId}`]],
  'webhooks resume': [['go on where it stood', `webhooks resume ${webhookId}`]],
  'webhooks delete': [['of a website that is gone', `webhooks delete ${webhookId}`]],
  'webhooks replay': [
    ['all after a number once more', `webhooks replay ${webhookId} --after 41`],
    ['what was given up', `webhooks replay ${webhookId} --given-up`],
  ],
  listen: [
    ['new events to a receiver on this machine', 'listen --forward-to http://localhost:3000/hooks'],
    ['the whole feed once more', 'listen --forward-to http://localhost:3000/hooks --after 0'],
  ],
  sync: [
    ['a JSON file for each property; run again for changes', 'sync ./properties'],
    ['sales alone, as one file', 'sync ./sales.ndjson --type salesproperty'],
    ['and keep it up to date', 'sync ./properties --follow'],
    ['and list where the copy differs from the feed', 'sync ./properties --verify'],
    ['one of several copies with one key', 'sync ./properties --consumer website'],
    ['and report results for the publishers', 'sync ./properties --results results.ndjson'],
    ['tables that a website reads', 'sync sqlite:website.db'],
    [
      'of many tenants, in one database',
      'sync postgres://website@db.example.com/website --keys keys.txt --follow',
    ],
  ],
  why: [['which version of a property each site has', `why ${homeReference}`]],
  'consumers list': [
    ['who is behind, and by how much', 'consumers list'],
    ['of an agency, with an operator key', `consumers list --key-tenant ${tenantId}`],
  ],
  'contacts find': [
    ['by a surname', 'contacts find --tenant "Hill & Co" --name Kowalczyk'],
    ['by an e-mail address', 'contacts find --tenant "Hill & Co" --email jane@example.com'],
  ],
  'contacts export': [
    ['everything stored about a person', `contacts export ${contactReference} --tenant "Hill & Co"`],
  ],
  'contacts expiring': [['before they are erased', 'contacts expiring --tenant "Hill & Co"']],
  'contacts keep': [
    ['keep one that would be erased', `contacts keep ${contactReference} --tenant "Hill & Co"`],
  ],
  'contacts erase': [
    [
      'with the case it belongs to',
      `contacts erase ${contactReference} --reason data_subject_request --case DSR-12`,
    ],
  ],
  'erasures list': [['all that the key may see', 'erasures list']],
  'erasures show': [['how far it is', `erasures show ${eventId}`]],
  'contacts restrict': [
    [
      'while its accuracy is checked',
      `contacts restrict ${contactReference} --reason accuracy_contested --case DSR-12`,
    ],
  ],
  'contacts unrestrict': [['when that is settled', `contacts unrestrict ${contactReference}`]],
  'contacts restrictions': [['including ended ones', 'contacts restrictions']],
  'holds add': [
    [
      'while a claim is open',
      `holds add ${contactReference} --ground legal_claim --until 2027-12-31 --case CLAIM-7`,
    ],
  ],
  'holds list': [['including expired ones', 'holds list']],
  'holds end': [['when the ground no longer applies', `holds end ${eventId}`]],
  'retention list': [['the rules of every tenant', 'retention list']],
  'retention set': [
    ['of one agency', 'retention set "Hill & Co" --retain-contacts 400d --expire-contacts off'],
  ],
  'retention run': [
    ['how many events would lose their payloads', 'retention run --dry-run --retain-contacts 400d'],
  ],
  exposure: [['what a lost key was sent', `exposure --key ${keyId} --from 2026-01-31 --out ./exposure`]],
  backup: [['while the service runs', 'backup ./backup.db']],
  copy: [
    ['from a file to PostgreSQL', 'copy --from ./data --to postgres://feed@db.example.com/feed'],
    ['one tenant, with its keys', 'copy --from ./data --to ./other --tenant "Hill & Co"'],
  ],
  compact: [['after an erasure', 'compact']],
  'epoch start': [['after a restore', 'epoch start --continue-after 120000']],
  'epoch heads': [
    ['where every feed ends', 'epoch heads'],
    ['before a move, kept in a file for epoch accept', 'epoch heads --json'],
  ],
  'epoch accept': [['after a move that lost nothing', 'epoch accept --heads heads.json']],
  'maintenance on': [['refuse publications, and say when to try again', 'maintenance on --retry-after 300']],
  'maintenance off': [['accept them again', 'maintenance off']],
  'maintenance status': [['whether it is on', 'maintenance status']],
  completion: [
    ['for bash, in ~/.bashrc: source <(property-events completion bash)', 'completion bash'],
    ['for zsh, in ~/.zshrc after compinit: source <(property-events completion zsh)', 'completion zsh'],
  ],
}

const style = styleOf(true)

/** Puts the examples of each command at the end of its help, as lines that can be copied. */
export function addExamples(program: Command): void {
  for (const { words, command } of commandsOf(program)) {
    const lines = (examples[words] ?? []).flatMap(([does, line]) => [
      style.dim(`  # ${does}`),
      `  ${commandLine(line)}`,
    ])
    if (lines.length > 0) command.addHelpText('after', ['', style.bold('Examples:'), ...lines].join('\n'))
  }
}

interface NamedCommand {
  /** After the program's name, such as `keys create`; the program itself has none. */
  readonly words: string
  readonly command: Command
}

/** The program and every command below it. */
export function commandsOf(command: Command, words = ''): readonly NamedCommand[] {
  const below = command.commands.flatMap((one) => commandsOf(one, `${words} ${one.name()}`.trim()))
  return [{ words, command }, ...below]
}
