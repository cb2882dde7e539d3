import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as payload from '../../src/payload/index.ts'

/** Name of the list in the code, number of its codes, the first and the last label. */
const expected: readonly (readonly [
  payload.CodeList<number> | payload.CodeList<string>,
  number,
  string,
  string,
])[] = [
  [payload.statuses, 6, 'Available', 'Let Agreed'],
  [payload.priceQualifiers, 14, 'Default', 'Coming Soon'],
  [payload.tenures, 6, 'Freehold', 'Non-Traditional'],
  [payload.furnishedTypes, 4, 'Furnished', 'Furnished or Unfurnished'],
  [payload.rentFrequencies, 5, 'Yearly', 'Daily'],
  [payload.mediaTypes, 7, 'Image', 'EPC Graph'],
  [payload.propertyTypes, 122, 'Not Specified', 'Retail Property (Pop Up)'],
  [payload.letTypes, 4, 'Not specified', 'Commercial'],
  [payload.accessibilityFeatures, 9, 'Level access', 'Lateral Living'],
  [payload.heatingTypes, 20, 'Air Conditioning', 'Solar Thermal'],
  [payload.parkingTypes, 19, 'Allocated', 'Garage En Bloc'],
  [payload.outsideSpaces, 8, 'Back Garden', 'Patio'],
  [payload.entranceFloors, 6, 'Basement', 'Higher than 2nd floor (with lift)'],
  [payload.conditions, 4, 'Good', 'Major renovation required'],
  [payload.areaUnits, 4, 'sq ft', 'hectares'],
  [payload.roomDimensionUnits, 5, 'Metres', 'Inches'],
  [payload.sewerageTypes, 2, 'Mains supply', 'Private supply'],
  [payload.waterSupplies, 2, 'Mains supply', 'Private supply'],
  [payload.electricitySupplies, 4, 'Mains supply', 'Private supply'],
  [payload.broadbandTypes, 5, 'Copper wire', 'None'],
  [payload.floodingSources, 6, 'River', 'Other'],
  [payload.councilTaxBands, 11, 'Band A', 'Deleted'],
  [payload.commercialUseClasses, 16, 'A1 Shops', 'Sui Generis 2'],
  [payload.removalReasons, 6, 'Sold by Us', 'Let by Us'],
  [payload.channels, 2, 'Sales', 'Lettings'],
  [payload.energyRatings, 7, 'Band A', 'Band G'],
]

describe('code lists', () => {
  for (const [list, size, first, last] of expected) {
    it(`${list.name} has its ${size} codes, each once (spec §2.3)`, () => {
      assert.deepEqual([list.codes.length, list.labels.size], [size, size])
      assert.deepEqual([list.codes[0]?.label, list.codes.at(-1)?.label], [first, last])
    })
  }

  it('a label is found by its code, and none for an unknown one (spec §2.3)', () => {
    assert.equal(payload.labelOf(payload.propertyTypes, 86), 'Mill (Commercial)')
    assert.equal(payload.labelOf(payload.statuses, 2), 'SSTC')
    assert.equal(payload.labelOf(payload.statuses, 7), undefined)
  })

  it('parking, outside space, accessibility and heating share one number space (spec §2.6)', () => {
    const { accessibilityFeatures, heatingTypes, outsideSpaces, parkingTypes } = payload
    const all = [accessibilityFeatures, heatingTypes, outsideSpaces, parkingTypes].flatMap(
      ({ codes }) => codes,
    )
    assert.equal(new Set(all.map(({ code }) => code)).size, all.length)
  })
})
