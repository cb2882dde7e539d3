/** A real nginx in front of nodes, set up as deploy/nginx says. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { until } from './until.ts'

/** Debian keeps servers where not everybody's PATH leads. */
const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
export const nginx = folders.map((folder) => join(folder, 'nginx')).find((path) => existsSync(path))
/** Why tests with it are skipped, or `false`. */
export const needsNginx =
  nginx === undefined ? 'nginx is not installed (Debian: apt-get install nginx-light)' : false

const deployed = join(import.meta.dirname, '../../../../deploy/nginx/property-events.conf')

/** The file of deploy/nginx with the addresses and folders of a test, each of which has to be there to be replaced. */
export function adaptedNginx(replacements: readonly (readonly [RegExp, string])[]): string {
  return replaced(readFileSync(deployed, 'utf8'), replacements)
}

function replaced(given: string, replacements: readonly (readonly [RegExp, string])[]): string {
  let text = given
  for (const [pattern, replacement] of replacements) {
    assert.match(text, pattern, `${pattern.source} in ${deployed}`)
    text = text.replace(pattern, replacement)
  }
  return text
}

/** Without TLS, and without the server that refuses what comes without it: `operating-guide.test.ts` has both. */
function plainNginx(port: number, [one, two]: readonly [number, number], folder: string): string {
  return adaptedNginx([
    [/127\.0\.0\.1:8081/, `127.0.0.1:${one}`],
    [/127\.0\.0\.1:8082/, `127.0.0.1:${two}`],
    [/ {2}listen 443 ssl http2;\n {2}listen \[::\]:443 ssl http2;/, `  listen 127.0.0.1:${port};`],
    [/^ {2}ssl_[\s\S]*?^ {2}ssl_session_tickets off;\n/m, ''],
    [/\/var\/log\/nginx\/property-events\.log/, `${folder}/access.log`],
    [/^# A key that is sent without TLS[\s\S]*$/m, ''],
  ])
}

/** nginx as it is deployed, with the addresses of a test, and with what is replaced in it. Resolves once it answers. */
export async function startNginx(
  root: string,
  port: number,
  nodePorts: readonly [number, number],
  replacements: readonly (readonly [RegExp, string])[] = [],
): Promise<ChildProcess> {
  const folder = join(root, 'nginx')
  const adapted = replaced(plainNginx(port, nodePorts, folder), replacements)
  return runNginx(folder, adapted, () => answers(port))
}

/** What people reach it by. */
export interface NginxTls {
  /** The files of a certificate. */
  readonly certificate: string
  readonly key: string
  /** Where the service lies, as with `serve --base-path`. */
  readonly prefix: string
}

/** nginx as it is deployed, with TLS, at a prefix. Resolves once it takes connections. */
export async function startNginxWithTls(
  root: string,
  port: number,
  [one, two]: readonly [number, number],
  { certificate, key, prefix }: NginxTls,
): Promise<ChildProcess> {
  const folder = join(root, 'nginx')
  const adapted = adaptedNginx([
    [/127\.0\.0\.1:8081/, `127.0.0.1:${one}`],
    [/127\.0\.0\.1:8082/, `127.0.0.1:${two}`],
    [/ {2}listen 443 ssl http2;\n {2}listen \[::\]:443 ssl http2;/, `  listen 127.0.0.1:${port} ssl http2;`],
    [/\/etc\/property-events\/tls\/fullchain\.pem/, certificate],
    [/\/etc\/property-events\/tls\/privkey\.pem/, key],
    [/location \/ \{/, `location ${prefix}/ {`],
    [/\/var\/log\/nginx\/property-events\.log/, `${folder}/access.log`],
    [/^# A key that is sent without TLS[\s\S]*$/m, ''],
  ])
  return runNginx(folder, adapted, () => connects(port))
}

async function runNginx(
  folder: string,
  adapted: string,
  isUp: () => Promise<boolean>,
): Promise<ChildProcess> {
  mkdirSync(folder)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  )
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const path = join(folder, 'nginx.conf')
  writeFileSync(
    path,
    `daemon off; ${user} worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 512; }
http { access_log off; ${temporary.join(' ')}
${adapted}
}`,
  )
  const child = spawn(nginx ?? '', ['-c', path, '-e', `${folder}/error.log`], { stdio: 'ignore' })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('nginx ended')))
  const answering = until(isUp, { what: 'an answer of nginx' })
  await Promise.race([answering, ended])
  ended.catch(() => undefined)
  return child
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}

async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/openapi.json`).then(
    ({ ok }) => ok,
    () => false,
  )
}
