/** A real nginx in front of nodes, set up as docs/operating.md says. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { until } from './until.ts'

/** Debian keeps servers where not everybody's PATH leads. */
const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
const nginx = folders.map((folder) => join(folder, 'nginx')).find((path) => existsSync(path))
/** Why tests with it are skipped, or `false`. */
export const needsNginx =
  nginx === undefined ? 'nginx is not installed (Debian: apt-get install nginx-light)' : false

/** The fragment of docs/operating.md, with the addresses of a test. Resolves once it answers. */
export async function startNginx(
  root: string,
  port: number,
  nodePorts: readonly [number, number],
): Promise<ChildProcess> {
  const document = readFileSync(join(import.meta.dirname, '../../../../docs/operating.md'), 'utf8')
  const [, fragment = ''] = /```nginx\n([\s\S]*?)```/.exec(document) ?? []
  assert.notEqual(fragment, '', 'the document shows how nginx is set up')
  const [one, two] = nodePorts
  const adapted = fragment
    .replace('10.0.0.1:8080', `127.0.0.1:${one}`)
    .replace('10.0.0.2:8080', `127.0.0.1:${two}`)
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
  const folder = join(root, 'nginx')
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
  const answering = until(() => answers(port), { what: 'an answer through nginx' })
  await Promise.race([answering, ended])
  ended.catch(() => undefined)
  return child
}

async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/openapi.json`).then(
    ({ ok }) => ok,
    () => false,
  )
}
