/** Bodies of up to 16 MiB that cost a publisher nothing to send, and what each is answered. */
import type { BodyFormat } from '../../src/http/requests/body-headers.ts'

export interface HostileBody {
  readonly name: string
  readonly format: BodyFormat
  readonly make: () => Buffer
  readonly status: number
  /** The first of `errors`: its pointer and its code; or the code of the problem, if it has no such list. */
  readonly fault: string
}

const maxBytes = 16 * 2 ** 20
const home = '0b9d5c1e-8f0a-4f1b-9a53-0c2f8d1f7a10'

/** `piece` as often as it fits, between `start` and `end`. */
function filled(piece: string, start = '', end = ''): Buffer {
  const body = Buffer.alloc(maxBytes, piece)
  const count = Math.floor((maxBytes - start.length - end.length) / Buffer.byteLength(piece))
  const length = count * Buffer.byteLength(piece)
  body.copyWithin(start.length, 0, length)
  body.write(start)
  body.write(end, start.length + length)
  return body.subarray(0, start.length + length + end.length)
}

/** Members `"k0":0,"k1":0,…`, each with a key of its own. */
function members(count: number): string {
  const all: string[] = []
  for (let index = 0; index < count; index += 1) all.push(`"${index.toString(36)}k":0`)
  return all.join(',')
}

export const hostileBodies: readonly HostileBody[] = [
  {
    name: '5.5 million lines of {}',
    format: 'ndjson',
    make: () => filled('{}\n'),
    status: 400,
    fault: ' too_many_events',
  },
  {
    name: '16.7 million line feeds',
    format: 'ndjson',
    make: () => filled('\n'),
    status: 400,
    fault: ' empty_batch',
  },
  {
    name: '[{},{},…]',
    format: 'json',
    make: () => filled('{},', '[', '{}]'),
    status: 400,
    fault: ' too_many_events',
  },
  {
    name: '[0,0,…] of 8 million',
    format: 'json',
    make: () => filled('0,', '[', '0]'),
    status: 400,
    fault: ' too_many_events',
  },
  {
    name: 'one object of 1.3 million members',
    format: 'json',
    make: () => Buffer.from(`{${members(1_300_000)}}`),
    status: 400,
    fault: ' event_too_large',
  },
  {
    name: 'the same in an array',
    format: 'json',
    make: () => Buffer.from(`[{${members(1_300_000)}}]`),
    status: 400,
    fault: '/0 event_too_large',
  },
  {
    name: 'the same on a line',
    format: 'ndjson',
    make: () => Buffer.from(`{${members(1_300_000)}}`),
    status: 400,
    fault: '/0 event_too_large',
  },
  {
    name: 'the same as a payload',
    format: 'json',
    make: () => Buffer.from(`{"payload":{${members(1_300_000)}}}`),
    status: 400,
    fault: '/payload payload_too_large',
  },
  { name: '16.7 MB of blanks', format: 'json', make: () => filled(' '), status: 400, fault: ' invalid_json' },
  {
    name: '16.7 MB of blanks in an array',
    format: 'json',
    make: () => filled(' ', '[', ']'),
    status: 400,
    fault: ' empty_batch',
  },
  {
    name: '16.7 MB of blanks after an array',
    format: 'json',
    make: () => filled(' ', '[{}]'),
    status: 400,
    fault: '/0/payload payload_or_remove',
  },
  {
    name: '16.7 MB of blanks in an event',
    format: 'json',
    make: () => filled(' ', '[{"a":', '1}]'),
    status: 400,
    fault: '/0/a unknown_member',
  },
  {
    name: '16.7 MB of blanks after an event',
    format: 'json',
    make: () => filled(' ', '[{}', ']'),
    status: 400,
    fault: '/0/payload payload_or_remove',
  },
  {
    name: '16.7 million line feeds, and no JSON after them',
    format: 'json',
    make: () => filled('\n', '', 'x'),
    status: 400,
    fault: ' invalid_json',
  },
  {
    name: '16.7 MB of blanks in an array, and no JSON after them',
    format: 'json',
    make: () => filled(' ', '[{}', 'x'),
    status: 400,
    fault: ' invalid_json',
  },
  {
    name: 'payloads full of numbers, and a comma too many',
    format: 'json',
    make: () => commaTooMany(`{"payload":{"a":[${'0,'.repeat(128_000)}0]}}`),
    status: 400,
    fault: ' invalid_json',
  },
  {
    name: 'payload texts full of escapes, and a comma too many',
    format: 'json',
    make: () => commaTooMany(`{"payload":"${String.raw`\n`.repeat(260_000)}{}"}`),
    status: 400,
    fault: ' invalid_json',
  },
  {
    name: 'depth 10,000',
    format: 'json',
    make: () => Buffer.from('['.repeat(10_000) + ']'.repeat(10_000)),
    status: 400,
    fault: `/0${'/0'.repeat(33)} too_deep`,
  },
  {
    name: 'depth 8 million',
    format: 'json',
    make: () => filled('['),
    status: 400,
    fault: `/0${'/0'.repeat(33)} too_deep`,
  },
  {
    name: 'one string of 16 MB',
    format: 'json',
    make: () => filled('a', '"', '"'),
    status: 400,
    fault: ' event_too_large',
  },
  {
    name: 'a payload text of 16 MB',
    format: 'json',
    make: () => filled('a', '{"payload":"', '"}'),
    status: 400,
    fault: '/payload payload_too_large',
  },
  {
    name: 'a payload text of 16 MB, escaped',
    format: 'json',
    make: () => filled(String.raw`\ud83d\ude00`, '{"payload":"', '"}'),
    status: 400,
    fault: '/payload payload_too_large',
  },
  {
    name: 'payload texts of 1.5 MB in escapes',
    format: 'json',
    make: () => array(`{"payload":"${String.raw`\u0020`.repeat(262_142)}{}"}`),
    status: 400,
    fault: '/0/payload/agent_ref missing',
  },
  {
    name: 'payload texts of 256 KiB full of members',
    format: 'ndjson',
    make: () => lines(JSON.stringify({ payload: `{${members(26_000)}}` })),
    status: 400,
    fault: '/0/payload/agent_ref missing',
  },
  {
    name: 'payloads of 256 KiB full of members',
    format: 'json',
    make: () => array(`{"payload":{${members(26_000)}}}`),
    status: 400,
    fault: '/0/payload/agent_ref missing',
  },
  {
    name: 'payloads of 256 KiB full of objects',
    format: 'json',
    make: () => array(`{"payload":{"agent_ref":"${home}","a":[${'{},'.repeat(87_000)}0]}}`),
    status: 400,
    fault: '/0/payload/published missing',
  },
  {
    name: 'a number of 16 million digits',
    format: 'json',
    make: () => filled('1', '[', ']'),
    status: 400,
    fault: '/0 number_out_of_range',
  },
  {
    name: '16 MB that are no UTF-8',
    format: 'json',
    make: () => Buffer.alloc(maxBytes, 0xff),
    status: 400,
    fault: ' invalid_utf8',
  },
  {
    name: 'no UTF-8 at the end of 16 MB',
    format: 'ndjson',
    make: () => Buffer.concat([filled('’').subarray(0, maxBytes - 1), Buffer.from([0xff])]),
    status: 400,
    fault: ' invalid_utf8',
  },
  {
    name: '16 MB of faulty lines',
    format: 'ndjson',
    make: () => filled('{\n'),
    status: 400,
    fault: '/0 invalid_json',
  },
  {
    name: '17 MB',
    format: 'json',
    make: () => Buffer.alloc(17 * 2 ** 20, ' '),
    status: 413,
    fault: 'body_too_large',
  },
]

function array(event: string): Buffer {
  return filled(`${event},`, '[', `${event}]`)
}

function commaTooMany(event: string): Buffer {
  return filled(`${event},`, '[', `${event},]`)
}

function lines(event: string): Buffer {
  return filled(`${event}\n`)
}
