/** The nation of a property, as far as the area of its postcode shows it. */

/** The nations of the United Kingdom, each with law of its own. */
export const nations = ['England', 'Wales', 'Scotland', 'Northern Ireland'] as const
export type Nation = (typeof nations)[number]

/** Areas of postcodes that are not wholly in England. Those of two nations cross the border. */
const others: ReadonlyMap<string, readonly Nation[]> = new Map([
  ...areas('TD DG CA', ['England', 'Scotland']),
  ...areas('CH HR LD LL NP SY', ['England', 'Wales']),
  ...areas('AB DD EH FK G HS IV KA KW KY ML PA PH ZE', ['Scotland']),
  ...areas('CF SA', ['Wales']),
  ...areas('BT', ['Northern Ireland']),
  // Guernsey, the Isle of Man and Jersey have other law.
  ...areas('GY IM JE', []),
])

const english = new Set(
  (
    'AL B BA BB BD BH BL BN BR BS CB CM CO CR CT CV CW DA DE DH DL DN DT DY E EC EN EX FY GL GU HA HD HG HP HU HX IG IP KT L LA LE ' +
    'LN LS LU M ME MK N NE NG NN NR NW OL OX PE PL PO PR RG RH RM S SE SG SK SL SM SN SO SP SR SS ST SW TA TF TN TQ TR TS TW UB W ' +
    'WA WC WD WF WN WR WS WV YO'
  ).split(' '),
)
const england: readonly Nation[] = ['England']

/** The nations that a property may be in, by the outward part of its postcode; `undefined`: it shows none. */
export function nationsOf(outward: unknown): readonly Nation[] | undefined {
  if (typeof outward !== 'string') return undefined
  const area = /^\s*([A-Z]{1,2})[0-9]/i.exec(outward)?.[1]?.toUpperCase()
  if (area === undefined) return undefined
  return others.get(area) ?? (english.has(area) ? england : undefined)
}

function areas(names: string, where: readonly Nation[]): readonly (readonly [string, readonly Nation[]])[] {
  return names.split(' ').map((name) => [name, where] as const)
}
