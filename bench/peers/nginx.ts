/** The limit: nginx sending the same bytes as static files (`sendfile`), plain and ready-compressed (`gzip_static`). */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { serverCore, spawnPinned, stop } from '../support/pinned.ts'

export interface RunningNginx extends AsyncDisposable {
  readonly url: string
}

/** `undefined` when nginx is not installed (Debian: `apt-get install nginx-light`). */
export async function startNginx(folder: string, filesFolder: string): Promise<RunningNginx | undefined> {
  if (spawnSync('nginx', ['-v']).status !== 0) return undefined
  const port = await freePort()
  mkdirSync(folder, { recursive: true })
  const configuration = join(folder, 'nginx.conf')
  writeFileSync(
    configuration,
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log; user root;
    events { worker_connections 1024; }
    http {
      access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; gzip_static on;
      open_file_cache max=30000 inactive=300s; open_file_cache_valid 300s;
      types { application/json json; }
      client_body_temp_path ${folder}/t1; proxy_temp_path ${folder}/t2; fastcgi_temp_path ${folder}/t3;
      uwsgi_temp_path ${folder}/t4; scgi_temp_path ${folder}/t5;
      server { listen 127.0.0.1:${port}; root ${filesFolder}; }
    }`,
  )
  const child = spawnPinned(serverCore, 'nginx', ['-c', configuration])
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const up = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
    if (up) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => stop(child) }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
