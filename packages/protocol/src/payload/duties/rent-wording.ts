/** Words beside a rent that make it less than one rent: ranges and invitations to offer. */

/** `£1,200`, `1200`, `1.2k`. */
const sum = String.raw`(?:(?:£|GBP) ?\d[\d,]*(?:\.\d+)?k?|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{3,}(?:\.\d+)?|\d+(?:\.\d+)?k)\b`
const period = '(?: ?(?:pcm|pw|per (?:calendar )?(?:month|week)|p/?m|p/?w|a (?:month|week)))?'
const range = new RegExp(
  `${sum}${period}\\s*(?:-|\\u2010|\\u2011|\\u2012|\\u2013|\\u2014|\\u2212|~|to|up to)\\s*${sum}|between\\s+${sum}${period}\\s*(?:and|&)\\s*${sum}`,
  'i',
)
/** Academic years, which are no rent: 2026-2027. */
const years = /\b20\d\d\s*[-\u2010-\u2015\u2212/]\s*20\d\d\b/g
const invitations =
  /\bp\.?o\.?a\b|\b(?:price|rent) on (?:application|request)\b|\boffers?\b(?! (?:accepted|agreed))|\boiro\b|\bo\.?i\.?e\.?o\b|\bguide\b|\btender\b|\bbids?\b|\bfrom (?:only )?(?:£|gbp|\d{3})|\bnegotiable\b|\bin excess of\b|\bin the region of\b|\bstarting (?:from|at)\b|\bup to £?\d/i

/** Of words that are advised to be short. Looking for a range in 10,000 digits took half a second, its square. */
const longestWords = 200

/** Whether the words beside a rent say a range, or invite offers, in their first 200 characters. */
export function isNoFixedRent(words: string): boolean {
  const start = words.slice(0, longestWords)
  return invitations.test(start) || range.test(start.replaceAll(years, ''))
}
