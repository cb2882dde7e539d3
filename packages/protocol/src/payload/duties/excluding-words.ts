/**
 * Wording in adverts that shuts out people on benefits or people with children: "No DSS", "sorry, no children or pets", "adults only".
 *
 * One pass over a text looks for words of the subject, which most texts do not have; only around them it is looked at closely. The time is
 * linear in the length of the text, and about that of a hash of it, so nothing is kept from one version of an advert to the next.
 */
import { memberAt } from '../member-at.ts'

/** The passages of an advert, with the pointers of the texts they are in: one of a text, and at most 10. */
export function excludingPassages(payload: unknown): readonly (readonly [string, string])[] {
  const passages: (readonly [string, string])[] = []
  for (const [pointer, text] of textsOf(payload)) {
    const passage = excludingPassage(text)
    if (passage !== undefined) passages.push([pointer, passage])
    if (passages.length >= mostPassages) break
  }
  return passages
}

const mostPassages = 10

/** The texts of an advert, with their pointers. */
function* textsOf(payload: unknown): Generator<readonly [string, string]> {
  for (const path of [
    ['details', 'summary'],
    ['details', 'description'],
    ['price_information', 'price_qualifier_string'],
    ['price_information', 'administration_fee'],
  ]) {
    const text = memberAt(payload, path)
    if (typeof text === 'string') yield [`/${path.join('/')}`, text]
  }
  for (const [index, text] of listAt(payload, 'features').entries()) {
    if (typeof text === 'string') yield [`/details/features/${index}`, text]
  }
  for (const [index, room] of listAt(payload, 'rooms').entries()) {
    const text = memberAt(room, ['room_description'])
    if (typeof text === 'string') yield [`/details/rooms/${index}/room_description`, text]
  }
}

function listAt(payload: unknown, member: string): readonly unknown[] {
  const list = memberAt(payload, ['details', member])
  return Array.isArray(list) ? list : []
}

/** The passage that shuts people out, as it stands in the text but without markup; `undefined`: none was found. */
export function excludingPassage(text: string): string | undefined {
  let left = closeLooks
  for (let at = subjectWordFrom(text, 0); at !== undefined;) {
    const wordEnd = subjectWord.lastIndex
    const end = Math.min(text.length, at + charactersAfter)
    const part = text.slice(Math.max(0, at - charactersBefore), end)
    if (signal.test(part)) {
      const passage = passageIn(plainPart(part))
      left -= 1
      if (passage !== undefined || left === 0) return passage
    }
    // A word before this was looked at with enough of the text that follows it.
    at = subjectWordFrom(text, Math.max(wordEnd, end - charactersNeeded))
  }
  return undefined
}

/** Looking closely takes long, so it is done only where a word shuts something out, and so often in a text. */
const closeLooks = 12
const signal =
  /\bn[o0]|\bnever|without|neither|cannot|\b(?:ca|wo|do|does|is|are|would|could|ai)n(?:['’‘ʼ]|&#39;|&\w+;)?t\b|❌|❎|✖|✗|✘|⛔|🚫|\bun(?:able|suit|avail|welc|accept)|exclud|refus|declin|reject|\bbar|\bban|prohib|forbid|inelig|only|free|childless|\bd?dim\b|\bni\b/i

/** Characters that are looked at before and after a word, and that a later word of the same part needs after it. */
const charactersBefore = 120
const charactersAfter = 180
const charactersNeeded = 90

function passageIn(part: string): string | undefined {
  for (const pattern of patterns) {
    const [passage] = pattern.exec(part) ?? []
    if (passage !== undefined) return passage.trim().replaceAll(/\s+/g, ' ').slice(0, 80)
  }
  return undefined
}

/** A part of a text as a reader sees it: without markup, with plain quotation marks, dashes and crosses. */
function plainPart(part: string): string {
  const words = part.replaceAll(spacedDss, 'DSS').replaceAll(/\.{2,}/g, ' ')
  if (!/[<&_\u0080-\uFFFF]/.test(words)) return words
  return words
    .replaceAll(/<\/?(?:br|p|li|ul|ol|div|tr|td|h[1-6])\b[^>]*>/gi, '\n')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&nbsp;|&#160;|&#xa0;|[\u00A0\u2000-\u200B\u202F_]/gi, ' ')
    .replaceAll(/&rsquo;|&lsquo;|&apos;|&#39;|[\u2018\u2019\u02BC]/g, "'")
    .replaceAll(/&quot;|[\u201C\u201D]/g, '"')
    .replaceAll('&amp;', '&')
    .replaceAll(/&[nm]dash;|[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/&bull;|[\u2022\u00B7\u25AA\u25CF]/g, '•')
    .replaceAll(/[❌❎✖✗✘⛔🚫]\uFE0F?/gu, ' no ')
    .replaceAll(/[✅✔☑👍]\uFE0F?/gu, ' yes . ')
    .replaceAll(/[👶🧒👧👦]\uFE0F?/gu, ' children ')
    .replaceAll('…', ' ')
}

const spacedDss = /\bd[./ _-]{1,2}s[./ _-]{1,2}s\b\.?/gi

/** Each alternative begins with one of `beginnings`. */
const subjectWord = new RegExp(
  [
    String.raw`\bd[./ _-]{0,2}s[./ _-]{0,2}s\b|nodss|no_dss|dhss|\bdwp\b|benefi|budd-?dal|universal cr|\b(?:uc|lha|hb)\b|housing allow`,
    'social secur|income supp|claimant|unemploy|jobseek|(?:council|social|housing|authority) tenant',
    String.raw`child|plant\b|teulu|\bkid|no_?kid|nokid|bab(?:y|ies)\b|infant|toddler|newborn|teenage|youngster|famil`,
    String.raw`under[- ]?(?:the age|[158])|\badult|\bover[- ]?(?:16|18|21|25)|👶`,
  ].join('|'),
  'iy',
)

/** Three characters each; `_` is any that is no letter. */
const beginnings =
  'dss d_s d__ ds_ nod no_ dhs dwp ben bud uni uc_ lha hb_ hou soc inc cla une job cou aut chi pla teu kid nok bab inf tod new tee you fam und adu ove'

/** From a UTF-16 unit: 1 to 26 for a letter of either case, 27 and 28 for the two of 👶, else 0. */
const letterOf = new Uint8Array(2 ** 16)
for (let letter = 1; letter <= 26; letter += 1) letterOf[0x40 + letter] = letterOf[0x60 + letter] = letter
letterOf[0xd83d] = 27
letterOf[0xdc76] = 28

/** By three letters of 5 bits: whether a subject word may begin with them. */
const mayBegin = new Uint8Array(2 ** 15)
for (const three of beginnings.split(' ')) mayBegin[lettersOf(three)] = 1
for (let third = 0; third < 32; third += 1) mayBegin[(lettersOf('👶') << 5) | third] = 1

function lettersOf(text: string): number {
  let letters = 0
  for (let at = 0; at < text.length; at += 1) letters = (letters << 5) | (letterOf[text.charCodeAt(at)] ?? 0)
  return letters
}

/**
 * Where the next subject word begins; its end is then the pattern's `lastIndex`. The pattern is tried only where it may begin, which takes some
 * nanoseconds a character instead of twenty.
 */
function subjectWordFrom(text: string, from: number): number | undefined {
  const { length } = text
  let letters = 0
  for (let at = from; at < length; at += 1) {
    letters = ((letters << 5) | (letterOf[text.charCodeAt(at)] ?? 0)) & 0x7fff
    if (mayBegin[letters] !== 0 && at >= from + 2 && isSubjectWordAt(text, at - 2)) return at - 2
  }
  // A word of two letters may be the text's end.
  return length >= from + 2 && isSubjectWordAt(text, length - 2) ? length - 2 : undefined
}

function isSubjectWordAt(text: string, at: number): boolean {
  subjectWord.lastIndex = at
  return subjectWord.test(text)
}

/** Who is shut out. A word that begins another subject ("children's playground", "benefits from") is none. */
const people = [
  'dss',
  'dhss',
  'dwp',
  String.raw`(?:housing|welfare|state|disability|social security|unemployment|government|council|child)[ -]benefits?`,
  String.raw`benefits?\b(?! *(?:from|of|to|in kind|with|includ|such|package|:(?! *no)))(?! +(?:is|are) (?!not|un))`,
  String.raw`universal[ -]credits?`,
  'uc',
  'lha',
  'hb',
  '(?:local )?housing allowances?',
  'social security',
  'income support',
  'claimants',
  'unemployed',
  'jobseekers?',
  String.raw`(?:council|social|social housing|local authority) tenants?`,
  String.raw`(?:child(?:ren)?|kids?|kiddies|kiddos|bab(?:y|ies)|infants?|toddlers?|newborns?|teenagers?|youngsters?)\b(?!'s?\b)(?![ -]*(?:play|park\b|nurser|school|club|area|room|bedroom|facilit|friendly|gate|lock|proof|safe|seat|mind|care|sit))`,
  String.raw`famil(?:ies\b(?!')|y(?= +with\b| *(?:[.,;!?)/]|$)))`,
  String.raw`under[- ]?(?:\d{1,2}'?s)\b`,
  String.raw`under (?:the age of )?(?:16|18)\b(?! *(?:min|mile|month|week|day|%|sq|m\b))`,
  String.raw`minors`,
].join('|')
const who = String.raw`(?:${people})\b`

/** Names of other things that are shut out together with people. */
const items = String.raw`(?:pets?|animals?|dogs?|cats?|smok(?:ers?|ing)|vap(?:ers?|ing)|students?|sharers?|share|couples?|singles?|groups?|guarantors?|large|small|young|older|any|dss|${people})\b`

const filler = [
  'or|nor|any|to|for|with|who|whom|that|are|is|be|been|being|have|having|has|of|on|in|from|by|as|at|if|the|an?|all',
  'receipt|receiv(?:e|es|ing)|claim(?:s|ing)?|getting|rel(?:y|ies|ying)|dependent|moment|present|this|time|currently|unfortunately|longer|normally|usually|generally',
  String.raw`accept\w*|consider\w*|tak(?:e|es|ing|en)|allow\w*|permit\w*|house|let|letting|rent(?:ed|ing)?|suit\w*|available|open|able|appropriate|intended|designed|offered|want\w*|cater|entertain|accommodat\w*|cover\w*|apply|welcome|include|lend|recommend(?:ed)?|ideal|right|view\w*`,
  'you|applicants?|applications?|enquir(?:y|ies)|tenants?|tenanc(?:y|ies)|people|persons?|those|anyone|anybody|individuals?|households?|parents?|occupants?|occupiers?|residents?|lets?|very|small|smaller|young|younger|older|school[- ]age|more|state|welfare|government|form|kind|type|sort',
].join('|')
const fill = String.raw`(?:(?:${filler})\b|${items})`

/** Not "with or without children", "we never refuse DSS", "no reason to refuse DSS". */
const negations = [
  String.raw`\b(?=n[o0e]|without|cannot|[cwdia][a-z]{1,4}n'?t\b|un)(?<!\b(?:or|not|never|nor|don't|won't|doesn't|no|why|if) +)\b(?:n[o0]|not|non|never|nobody|no[- ]one|without|neither|nor|cannot|(?:ca|wo|do|does|is|are|would|could|ai)n'?t|unable|unsuitable|unavailable)\b`,
  String.raw`\b(?=exclud|refus|declin|reject|bar|ban|prohib)(?<!(?:\b(?:no|not|never|without)\b|n't)[^.!?\n]{0,25})\b(?:exclud(?:e|es|ed|ing)|refus(?:e|es|ed|ing)|declin(?:e|es|ed|ing)|reject(?:s|ed|ing)?|bar(?:s|red)|ban(?:s|ned|ning)?|prohibit(?:s|ed|ing)?)\b`,
]
const no = `(?:${negations.join('|')})`

const close = String.raw`(?:[ \t"'*]+|[/&]|-)`
const apart = String.raw`[ \t"'*()]*[,;:|•+\n~/&(-][ \t"'*()\n•-]*`
const andAnd = String.raw`[ \t]+and[ \t]+`
const list = String.raw`(?:(?:${apart}|${andAnd}|${close})(?:(?:and|or|nor)${close})?${items}){0,5}?`
const welcome = 'yes|ok\\b|okay|welcome|consider|accept|allowed|fine|possible|by arr|only|are |is |may |can '
const noun = String.raw`(?:${close}(?:tenants?|applicants?|applications?|claimants?|recipients?|people|persons?|families|households?|occupants?|residents?|enquiries))?`
const ending = String.raw`(?= *(?:$|[.,;!?)\]|•\n"'*/~-](?! *(?:${welcome}))|or\b|nor\b|please|thank|sorry|x\b|(?:and|&) +${items} *(?:$|[.,;!?)\]\n|•])))`
const notWelcome = String.raw`(?! *\?| *yes\b| *[:=-] *(?:${welcome}))`
const accepted = String.raw`(?:accept\w*|consider\w*|permit\w*|allow\w*|welcome\w*|suit(?:able|ed)|taken|entertained|eligible|catered|accommodated|possible|available|appl(?:y|ies|icable)|wanted|housed|able|appropriate|ok\b|okay|an option|allowed|included)(?! +for +(?:pets|smok|dogs|cats|animals|sharers|students|couples))`
const verb =
  "(?:unfortunately|sorry|regrettably|sadly|please|is|are|will|would|can|could|should|shall|must|may|do|does|need|strictly|definitely|absolutely|be|at this time|at present|currently|i'm afraid|we are afraid|afraid)"

const patterns = [
  // No DSS; no pets or children; cannot accept tenants in receipt of housing benefit.
  String.raw`${no}(?:${close}${fill}){0,8}${list}(?:${close}|(?:${apart}|${close})(?:or|nor)${close})(?:any${close})?${who}${notWelcome}`,
  String.raw`${no}[ \t]*[("]+${who}${notWelcome}`,
  String.raw`${no}${close}(?:very${close})?(?:child|kid|family|dss|benefits?)[ -]friendly\b`,
  // A text that is broken into lines: Sorry, no \n DSS.
  String.raw`${no}[ \t]*\n[ \t]*${who}${noun}(?! *[:=-]? *(?:${welcome}))`,
  // No pets, smokers, DSS. No smokers and children.
  String.raw`${no}(?:${close}${fill}){0,8}${list}(?:${apart}|${andAnd})(?:any${close})?${who}${noun}${ending}`,
  // DSS not accepted; children or pets will unfortunately not be considered; DSS need not apply.
  String.raw`\b${who}${noun}(?:${close}(?:under|over|aged|below)${close}\d+\S*)?(?:(?:${apart}|${andAnd}|${close})(?:(?:and|or|nor)${close})?${items}${noun}){0,4}(?:[ ,;:"'()-]+${verb}){0,5}[ ,;:"'()-]+(?:not|never|cannot|(?:ca|wo|do|does|is|are|would)n'?t)(?:[ ,]+(?:be|being|currently|unfortunately|normally|usually|generally|considered|able to be))*[ ]+${accepted}`,
  String.raw`\b${who}${noun}(?:[ ,]+(?:is|are|will be|strictly|sorry|being))*[ ,:-]+(?:excluded|prohibited|forbidden|banned|barred|refused|declined|rejected|unwelcome|unacceptable|ineligible)`,
  // DSS: no. Children - no, sorry.
  String.raw`\b${who}${noun}[ \t]*[:=?"')-]*[ \t"'(-]*\bno(?: *(?:$|[.,;!?)\]\n|•/]|sorry|thank))(?! *(?:problem|issue|chain))`,
  // Adults only; over 18s only; child-free; #NoDSS.
  String.raw`\badults?(?:[ -](?:tenants?|occupants?|occupiers?|applicants?|households?|residents?))?(?: *\(?18\+\)?)?[ -]only\b(?! +(?:pool|gym|spa|swim|area|lounge|leisure|bar|club))`,
  String.raw`\bonly +(?:(?:suitable +for|available +to|open +to|let +to|for|accept(?:ing)?|consider(?:ing)?) +)?adults\b`,
  String.raw`\bover[- ]?(?:16|18|21|25)(?:'?s)?[ -]+only\b`,
  String.raw`\b(?:(?:child(?:ren)?|kids?|baby|dss|benefits?|family)-free|(?:child|kid) ?free)\b(?! +(?:of|from|school|transport))|\bchildless\b`,
  String.raw`\bno(?:dss|kids|children|benefits|child|babies|families)\b`,
  // Welsh: no DSS, no children, no benefits.
  String.raw`\b(?:dim|ni dderbynnir|ddim yn derbyn|dim yn derbyn)(?: +(?:ysmygwyr|ysmygu|anifeiliaid(?: anwes)?|neu|na|nac?|,|/))* *,? *(?:dss|plant|budd-?dal\w*|teuluoedd|credyd cynhwysol|babanod)\b`,
].map((source) => new RegExp(source, 'i'))
