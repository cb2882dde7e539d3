/** Settings of the console: part of the settings of `serve`. */
import { onOff, text } from './setting.ts'

export const consoleSettings = {
  console: onOff({
    name: 'console',
    description: 'people work with the service in a browser, at /console; a demo has it on',
  }),
  consoleImages: text<readonly string[], readonly string[]>(
    {
      name: 'console-images',
      argument: 'hosts',
      description: 'hosts whose photographs the console shows, over https, with commas between them',
      fallbackWords: 'none',
      expected: 'hosts such as images.example.com or *.example.com, with commas between them',
    },
    [],
    readHosts,
  ),
} as const

/** In lower case. They become part of a content security policy, so nothing else is allowed in them. */
function readHosts(written: string): readonly string[] | undefined {
  const hosts = written.split(',').map((host) => host.trim().toLowerCase())
  return hosts.every((host) => hostPattern.test(host)) ? [...new Set(hosts)] : undefined
}

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const hostPattern = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label}){1,10}(?::\\d{1,5})?$`)
