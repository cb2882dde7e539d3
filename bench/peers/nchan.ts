/** Nchan: a module of nginx that holds subscribers and passes on what is published, from memory (Debian: libnginx-mod-nchan). */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { serverCore, spawnPinned, stop } from '../support/pinned.ts'
import { freePort, untilAnswers, usageOfTrees } from '../support/server.ts'
import type { RunningServer } from '../support/server.ts'
import { missing, missingProgram } from './missing.ts'
import type { Missing } from './missing.ts'

const moduleFile = '/usr/lib/nginx/modules/ngx_nchan_module.so'

/** `/publish` takes messages, `/subscribe` is for `text/event-stream` and `/poll` for long-polls. One worker. */
export async function startNchan(folder: string): Promise<RunningServer | Missing> {
  const absent = missingProgram('nginx', 'nginx-light')
  if (absent !== undefined) return absent
  if (!existsSync(moduleFile)) return missing('libnginx-mod-nchan is not installed')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  mkdirSync(folder, { recursive: true })
  const configuration = `${folder}/nginx.conf`
  writeFileSync(
    configuration,
    `load_module ${moduleFile}; daemon off; worker_processes 1; pid ${folder}/nginx.pid;
    error_log ${folder}/error.log; ${process.getuid?.() === 0 ? 'user root;' : ''}
    events { worker_connections 4096; }
    http {
      access_log off; keepalive_requests 100000000;
      client_body_temp_path ${folder}/t1; proxy_temp_path ${folder}/t2; fastcgi_temp_path ${folder}/t3;
      uwsgi_temp_path ${folder}/t4; scgi_temp_path ${folder}/t5;
      server {
        listen 127.0.0.1:${port};
        location = /publish { nchan_publisher; nchan_channel_id feed; nchan_message_buffer_length 100; }
        location = /subscribe { nchan_subscriber eventsource; nchan_channel_id feed; nchan_subscriber_first_message newest; }
        location = /poll { nchan_subscriber longpoll; nchan_channel_id feed; nchan_subscriber_first_message newest; }
      }
    }`,
  )
  const child = spawnPinned(serverCore, 'nginx', ['-c', configuration])
  await untilAnswers(`${url}/nothing`, child)
  return {
    url,
    ...usageOfTrees(() => [child.pid ?? 0]),
    [Symbol.asyncDispose]: () => stop(child),
  }
}
