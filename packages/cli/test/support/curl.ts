/** The few options of curl that the documents use, for machines without it: -s, -X, -H, -d, --fail-with-body, --no-buffer. */
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    silent: { type: 'boolean', short: 's' },
    request: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true },
    data: { type: 'string', short: 'd' },
    'fail-with-body': { type: 'boolean' },
    'no-buffer': { type: 'boolean' },
  },
})
const headers = (values.header ?? []).map((header): [string, string] => {
  const colon = header.indexOf(':')
  return [header.slice(0, colon), header.slice(colon + 1).trim()]
})
const response = await fetch(positionals[0] ?? '', {
  method: values.request ?? (values.data === undefined ? 'GET' : 'POST'),
  headers,
  ...(values.data === undefined ? {} : { body: values.data }),
})
process.stdout.write(await response.text())
if (values['fail-with-body'] === true && !response.ok) process.exitCode = 22
