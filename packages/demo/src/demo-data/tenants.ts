import type { Area } from './load-data.ts'

interface MarketBranch {
  readonly branchId: string
  readonly name: string
}

/** An invented agency. Any likeness to a real one is chance. */
export interface MarketTenant {
  readonly tenantId: string
  readonly name: string
  readonly area: Area
  readonly branches: readonly [MarketBranch, MarketBranch, ...MarketBranch[]]
  /** Begins the agency's own property references. */
  readonly initials: string
  /** What separates the paragraphs of its descriptions: the software of each agency does it in its own way. */
  readonly paragraphBreak: string
  /** At least this many homes are on its market when the demo begins. */
  readonly homesOnMarket: number
}

/** The agencies of the demo. Their ids never change, so that keys and bookmarks outlive the data folder. */
export const marketTenants: readonly [MarketTenant, ...MarketTenant[]] = [
  {
    tenantId: '5b1d6f0e-7c42-4a8b-9f35-2e60c1a7d981',
    name: 'Hartsease & Quillon',
    area: 'london-sw19',
    branches: [
      { branchId: 'wimbledon-village', name: 'Wimbledon Village' },
      { branchId: 'south-wimbledon', name: 'South Wimbledon' },
      { branchId: 'colliers-wood', name: 'Colliers Wood' },
    ],
    initials: 'HQ',
    paragraphBreak: '<br /><br />',
    homesOnMarket: 350,
  },
  {
    tenantId: 'c83e2a94-1f5d-4d06-b7a9-60f4e8135b2c',
    name: 'Orrell Thackerby',
    area: 'greater-manchester',
    branches: [
      { branchId: '1001', name: 'Stockport' },
      { branchId: '1002', name: 'South Manchester' },
      { branchId: '1003', name: 'Sale and Altrincham' },
      { branchId: '1004', name: 'Bolton, Bury and Wigan' },
      { branchId: '1005', name: 'Oldham and Rochdale' },
    ],
    initials: 'OT',
    paragraphBreak: '\n\n',
    homesOnMarket: 0,
  },
  {
    tenantId: '2fa70c5b-e61d-4938-8d24-b9137f50ac6e',
    name: 'Garthwick Moor',
    area: 'newcastle',
    branches: [
      { branchId: 'JESMOND', name: 'Jesmond' },
      { branchId: 'GOSFORTH', name: 'Gosforth' },
      { branchId: 'HEATON', name: 'Heaton' },
      { branchId: 'WEST-END', name: 'West End' },
    ],
    initials: 'GM',
    paragraphBreak: '\r\n\r\n',
    homesOnMarket: 0,
  },
]

/** The agency that works in an area. Every area of the data has one. */
export function tenantOfArea(area: Area): MarketTenant {
  const tenant = marketTenants.find((candidate) => candidate.area === area)
  if (tenant === undefined) throw new RangeError(`No agency works in ${area}`)
  return tenant
}
