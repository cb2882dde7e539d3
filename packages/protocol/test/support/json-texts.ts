import * as fc from 'fast-check'

/** Texts that are JSON, nearly JSON, and full of what must be refused. */
const pieces = fc.constantFrom(
  ...String.raw`{ } [ ] , : "a" "b": "payload": "payload"\s: true null 1 -0.5e3 9007199254740993 1e400 12.345678901234567`
    .split(' ')
    .map((piece) => piece.replace(String.raw`\s`, ' \n')),
  ...String.raw`"\u0000" "\u00e9" "\ud83d" "\ud83d\ue000" "\ude00\ude00" "\ud83d\ude00" "\\" "\"" "__proto__": "constructor": "prototype": "\u0061":`.split(
    ' ',
  ),
  ...String.raw`" \ ’ "’" x .`.split(' '),
)
export const brokenText = fc.array(pieces, { maxLength: 30 }).map((all) => all.join(''))
const names = fc.constantFrom('payload', 'a', 'b', '__proto__', 'constructor', 'prototype', '1', '\u2019')
export const values = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('1', '-2.50', '9007199254740993', '1e-400', '"t"', '"\\ud83d\\ude00"', '"\\/"', 'null'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc
      .array(fc.tuple(names, tie('value')), { maxLength: 4 })
      .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join(',')}}`),
  ),
})).value
export const text = fc.oneof(brokenText, values)
