/** The PHP files use nothing that PHP 8.1 has not: the machine that tests them may have a newer one. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const hasPhp = spawnSync('php', ['--version']).status === 0
/** Without PHP nothing here can be tried, and each test says so. */
const withPhp = { skip: hasPhp ? false : 'php is not installed here (apt-get install php-cli): not tried' }
const folder = join(import.meta.dirname, 'php')

interface Token {
  readonly name: string
  readonly text: string
  readonly line: number
}

/** Of each of these codes, without white space and comments; a text is one token, and what stands in it is not looked at. */
function tokensOf(codes: readonly string[]): readonly (readonly Token[])[] {
  const script = `
    $token = fn ($one) => ['name' => $one->getTokenName(), 'text' => $one->text, 'line' => $one->line];
    $tokens = fn ($code) => array_map($token, array_values(array_filter(PhpToken::tokenize($code), fn ($one) => !$one->isIgnorable())));
    echo json_encode(array_map($tokens, json_decode(stream_get_contents(STDIN))), JSON_THROW_ON_ERROR);`
  const input = JSON.stringify(codes)
  const { stdout, stderr } = spawnSync('php', ['-r', script], { input, encoding: 'utf8', maxBuffer: 1 << 26 })
  assert.equal(stderr, '')
  return JSON.parse(stdout) as readonly (readonly Token[])[]
}

/** Functions and classes of 8.2 and later that a file such as ours could come to use. */
const laterNames =
  /^(?:json_validate|mb_str_pad|str_(?:increment|decrement)|array_(?:find|find_key|any|all|first|last)|mb_(?:trim|ltrim|rtrim|ucfirst|lcfirst)|fpow|bc(?:ceil|floor|round|divmod)|http_(?:get|clear)_last_response_headers|stream_context_set_options|ini_parse_quantity|memory_reset_peak_usage|openssl_cipher_key_length|curl_upkeep|request_parse_body|get_(?:error|exception)_handler|grapheme_(?:str_split|levenshtein)|SensitiveParameter|AllowDynamicProperties|RoundingMode|Date[A-Z]\w*Exception|\\?Random\\\w+|Pdo\\\w+)$/i

type Rule = (tokens: readonly Token[], index: number) => boolean

const textAt = (tokens: readonly Token[], index: number) => tokens[index]?.text.toLowerCase() ?? ''
const nameAt = (tokens: readonly Token[], index: number) => tokens[index]?.name ?? ''

/** The index of the bracket that closes the one at `open`. */
function closing(tokens: readonly Token[], open: number): number {
  let depth = 0
  for (let index = open; index < tokens.length; index += 1) {
    if (textAt(tokens, index) === '(') depth += 1
    if (textAt(tokens, index) === ')') depth -= 1
    if (depth === 0) return index
  }
  return tokens.length
}

/** The index of the bracket that `end` closes. */
function opening(tokens: readonly Token[], end: number): number {
  let depth = 0
  for (let index = end; index >= 0; index -= 1) {
    if (textAt(tokens, index) === ')') depth += 1
    if (textAt(tokens, index) === '(') depth -= 1
    if (depth === 0) return index
  }
  return -1
}

/** The words of a type that begins here. */
function typeAt(tokens: readonly Token[], index: number): readonly string[] {
  const words: string[] = []
  for (let at = index; /^(?:[|?&()\\]|[\w\\]+)$/.test(textAt(tokens, at)); at += 1)
    words.push(textAt(tokens, at))
  return words
}

const isLaterType = (words: readonly string[]) =>
  words.includes('true') ||
  words.includes('(') ||
  (words.length === 1 && /^(?:null|false)$/.test(words[0] ?? ''))

const rules: Readonly<Record<string, Rule>> = {
  'a readonly class (8.2)': (tokens, at) =>
    textAt(tokens, at) === 'readonly' && /^(?:final|abstract|class)$/.test(textAt(tokens, at + 1)),
  'a constant with a type (8.3)': (tokens, at) =>
    nameAt(tokens, at) === 'T_CONST' && textAt(tokens, at - 1) !== 'use' && textAt(tokens, at + 2) !== '=',
  'a constant in a trait (8.2)': (tokens, at) =>
    nameAt(tokens, at) === 'T_CONST' && tokens.slice(0, at).some(({ name }) => name === 'T_TRAIT'),
  'null, false or true as a type of its own, or a group of types (8.2)': (tokens, at) =>
    (textAt(tokens, at) === ')' &&
      textAt(tokens, at + 1) === ':' &&
      isFunctionEnd(tokens, at) &&
      isLaterType(typeAt(tokens, at + 2))) ||
    (textAt(tokens, at) === 'true' && nameAt(tokens, at + 1) === 'T_VARIABLE') ||
    (/^(?:null|false)$/.test(textAt(tokens, at)) &&
      nameAt(tokens, at + 1) === 'T_VARIABLE' &&
      textAt(tokens, at - 1) !== '|') ||
    (textAt(tokens, at) === ')' &&
      textAt(tokens, at + 1) === '|' &&
      /^\w+$/.test(textAt(tokens, at + 2)) &&
      nameAt(tokens, at + 3) === 'T_VARIABLE'),
  'a constant fetched by a name that is worked out (8.3)': (tokens, at) =>
    textAt(tokens, at) === '::' && textAt(tokens, at + 1) === '{',
  'a hook of a property (8.4)': (tokens, at) =>
    nameAt(tokens, at) === 'T_VARIABLE' && textAt(tokens, at + 1) === '{',
  'a visibility for writing alone (8.4)': (tokens, at) =>
    /^(?:public|protected|private)(?:\(set\))?$/.test(textAt(tokens, at)) &&
    (textAt(tokens, at).endsWith(')') || textAt(tokens, at + 1) === '('),
  'new without brackets around it (8.4)': (tokens, at) => {
    if (nameAt(tokens, at) !== 'T_NEW' || textAt(tokens, at + 2) !== '(') return false
    return /^(?:->|\?->|::)$/.test(textAt(tokens, closing(tokens, at + 2) + 1))
  },
  'a pipe (8.5)': (tokens, at) =>
    textAt(tokens, at) === '|>' || (textAt(tokens, at) === '|' && textAt(tokens, at + 1) === '>'),
  'clone with changes (8.5)': (tokens, at) =>
    nameAt(tokens, at) === 'T_CLONE' &&
    textAt(tokens, at + 1) === '(' &&
    tokens.slice(at, closing(tokens, at + 1)).some(({ text }) => text === ','),
  'a function or a class that came later': (tokens, at) =>
    /^T_(?:STRING|NAME_)/.test(nameAt(tokens, at)) &&
    !/^(?:->|\?->|::|function|const)$/.test(textAt(tokens, at - 1)) &&
    laterNames.test(textAt(tokens, at)),
}

/** Whether this bracket closes the parameters of a function, and not a condition before `:`. */
function isFunctionEnd(tokens: readonly Token[], end: number): boolean {
  const open = opening(tokens, end)
  return [1, 2, 3].some((back) => /^(?:function|fn|use)$/.test(textAt(tokens, open - back)))
}

function faultsIn(tokens: readonly Token[]): string {
  const faults = tokens.flatMap(({ line }, at) =>
    Object.entries(rules)
      .filter(([, rule]) => rule(tokens, at))
      .map(([what]) => `line ${line}: ${what}`),
  )
  return faults.join('\n')
}

describe('the files of PHP', () => {
  it('use nothing that PHP 8.1 has not', withPhp, () => {
    const files = readdirSync(folder).filter((name) => name.endsWith('.php'))
    assert.ok(files.length >= 6)
    const codes = files.map((name) => readFileSync(join(folder, name), 'utf8'))
    for (const [index, tokens] of tokensOf(codes).entries()) {
      assert.equal(faultsIn(tokens), '', files[index] ?? '')
    }
  })

  it('would be found to use it', withPhp, () => {
    const later: Readonly<Record<string, string>> = {
      'readonly class A {}': 'readonly class',
      'final readonly class A {}': 'readonly class',
      'class A { const string B = "x"; }': 'constant with a type',
      'class A { private const ?int B = 1; }': 'constant with a type',
      'trait A { const B = 1; }': 'constant in a trait',
      'function a(): null {}': 'null, false or true',
      'function a(true $b): int {}': 'null, false or true',
      'function a(): int|true {}': 'null, false or true',
      'function a((A&B)|null $c) {}': 'null, false or true',
      'echo A::{$b};': 'worked out',
      'class A { public string $b { get => 1; } }': 'hook',
      'class A { public private(set) string $b; }': 'visibility',
      'new A()->b();': 'without brackets',
      '$a |> b(...);': 'pipe',
      'clone($a, ["b" => 1]);': 'clone with',
      'json_validate($a);': 'came later',
      'array_find($a, fn ($b) => true);': 'came later',
      '$a = new \\Random\\Randomizer();': 'came later',
    }
    const codes = Object.keys(later)
    for (const [index, tokens] of tokensOf(codes.map((code) => `<?php ${code}`)).entries()) {
      const code = codes[index] ?? ''
      assert.match(faultsIn(tokens), new RegExp(later[code] ?? ''), code)
    }
    const earlier = `<?php
      enum Suit: string { case Hearts = 'h'; final public const A = 1; }
      final class B { private const C = 1, D = 2; public function __construct(private readonly ?int $e = null) {}
        public function f(int|false $g): ?string { return (new B())->e?->h(...); }
        public function first(): static { return $this->array_find() ? $this : self::json_validate(); } }
      $i = match (true) { $a ? (b()) : false => 1, default => null };`
    assert.equal(faultsIn(tokensOf([earlier])[0] ?? []), '')
  })
})
