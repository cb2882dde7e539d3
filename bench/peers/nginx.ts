/** The limit: nginx sending the same bytes as static files (`sendfile`), plain and ready-compressed (`gzip_static`). */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { serverCore, spawnPinned, stop } from '../support/pinned.ts'
import { freePort, untilAnswers, usageOfTrees } from '../support/server.ts'
import type { RunningServer } from '../support/server.ts'
import { missingProgram } from './missing.ts'
import type { Missing } from './missing.ts'

/** Files that nginx can keep open with a machine's default limits. Any more are opened for each request. */
export const openFilesForSure = 18_000

/**
 * `folder`: scratch. One worker, which keeps files open, as many as it may. `tcp_nopush` is set as serves what is asked
 * for: pages of 400 kB leave twice as fast with it, and gzipped ones wait 40 ms for an acknowledgement now and then.
 */
export async function startNginx(
  folder: string,
  filesFolder: string,
  tcpNopush: 'on' | 'off' = 'on',
): Promise<RunningServer | Missing> {
  const absent = missingProgram('nginx', 'nginx-light')
  if (absent !== undefined) return absent
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  mkdirSync(folder, { recursive: true })
  const configuration = `${folder}/nginx.conf`
  const openFiles = mostOpenFiles()
  writeFileSync(
    configuration,
    `daemon off; worker_processes 1; worker_rlimit_nofile ${openFiles}; pid ${folder}/nginx.pid;
    error_log ${folder}/error.log; ${process.getuid?.() === 0 ? 'user root;' : ''}
    events { worker_connections 1024; }
    http {
      access_log off; sendfile on; tcp_nopush ${tcpNopush}; keepalive_requests 100000000; gzip_static on;
      open_file_cache max=${openFiles - 2_000} inactive=3600s; open_file_cache_valid 3600s; open_file_cache_errors on;
      types { application/json json; }
      client_body_temp_path ${folder}/t1; proxy_temp_path ${folder}/t2; fastcgi_temp_path ${folder}/t3;
      uwsgi_temp_path ${folder}/t4; scgi_temp_path ${folder}/t5;
      server { listen 127.0.0.1:${port}; root ${filesFolder}; }
    }`,
  )
  const child = spawnPinned(serverCore, 'nginx', ['-c', configuration])
  await untilAnswers(url, child)
  return {
    url,
    ...usageOfTrees(() => [child.pid ?? 0]),
    [Symbol.asyncDispose]: () => stop(child),
  }
}

/** The most files that this process may open: the children inherit it. */
function mostOpenFiles(): number {
  const limit = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return Math.min(200_000, limit === undefined || limit === 'unlimited' ? 200_000 : Number(limit))
}
