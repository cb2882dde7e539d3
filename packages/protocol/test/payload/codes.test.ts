import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CodeList } from '../../src/payload/code-list.ts'
import * as codes from '../../src/payload/codes.ts'
import { propertyTypes } from '../../src/payload/property-types.ts'

/** Name of the list in the code, number of its codes, the first and the last label. */
const expected: readonly (readonly [CodeList<number> | CodeList<string>, number, string, string])[] = [
  [codes.statuses, 6, 'Available', 'Let Agreed'],
  [codes.priceQualifiers, 14, 'Default', 'Coming Soon'],
  [codes.tenures, 6, 'Freehold', 'Non-Traditional'],
  [codes.furnishedTypes, 4, 'Furnished', 'Furnished or Unfurnished'],
  [codes.rentFrequencies, 5, 'Yearly', 'Daily'],
  [codes.mediaTypes, 7, 'Image', 'EPC Graph'],
  [propertyTypes, 122, 'Not Specified', 'Retail Property (Pop Up)'],
  [codes.letTypes, 4, 'Not specified', 'Commercial'],
  [codes.accessibilityFeatures, 9, 'Level access', 'Lateral Living'],
  [codes.heatingTypes, 20, 'Air Conditioning', 'Solar Thermal'],
  [codes.parkingTypes, 19, 'Allocated', 'Garage En Bloc'],
  [codes.outsideSpaces, 8, 'Back Garden', 'Patio'],
  [codes.entranceFloors, 6, 'Basement', 'Higher than 2nd floor (with lift)'],
  [codes.conditions, 4, 'Good', 'Major renovation required'],
  [codes.areaUnits, 4, 'sq ft', 'hectares'],
  [codes.roomDimensionUnits, 5, 'Metres', 'Inches'],
  [codes.sewerageTypes, 2, 'Mains supply', 'Private supply'],
  [codes.waterSupplies, 2, 'Mains supply', 'Private supply'],
  [codes.electricitySupplies, 4, 'Mains supply', 'Private supply'],
  [codes.broadbandTypes, 5, 'Copper wire', 'None'],
  [codes.floodingSources, 6, 'River', 'Other'],
  [codes.councilTaxBands, 11, 'Band A', 'Deleted'],
  [codes.commercialUseClasses, 16, 'A1 Shops', 'Sui Generis 2'],
  [codes.removalReasons, 6, 'Sold by Us', 'Let by Us'],
  [codes.energyRatings, 7, 'Band A', 'Band G'],
]

describe('code lists', () => {
  for (const [list, size, first, last] of expected) {
    it(`${list.name} has its ${size} codes, each once (spec §2.3)`, () => {
      assert.deepEqual([list.codes.length, list.labels.size], [size, size])
      assert.deepEqual([list.codes[0]?.label, list.codes.at(-1)?.label], [first, last])
    })
  }

  it('a label is found by its code, and none for an unknown one (spec §2.3)', () => {
    assert.equal(propertyTypes.labels.get(86), 'Mill (Commercial)')
    assert.equal(codes.statuses.labels.get(2), 'SSTC')
    assert.equal(codes.statuses.labels.get(7), undefined)
  })

  it('parking, outside space, accessibility and heating share one number space (spec §2.6)', () => {
    const { accessibilityFeatures, heatingTypes, outsideSpaces, parkingTypes } = codes
    const all = [accessibilityFeatures, heatingTypes, outsideSpaces, parkingTypes].flatMap(
      (list) => list.codes,
    )
    assert.equal(new Set(all.map(({ code }) => code)).size, all.length)
  })
})
