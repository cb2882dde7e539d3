import { decimal, integer, text, textOrNumber } from './fields.ts'

/** The members that every address has: of a property (spec §2.4, RTDF's `address_4` added) and of a contact. */
export const addressMembers = {
  house_name_number: text('House name or number; RTDF: 1 to 60 characters.'),
  address_2: text('Second line, usually the street; RTDF: at most 60 characters.'),
  address_3: text('Third line; may be empty; RTDF: at most 60 characters.'),
  address_4: text('Fourth line; may be empty; RTDF: at most 60 characters.'),
  town: text('Town or city; RTDF: 1 to 60 characters.'),
  postcode_1: text('Outward part of the postcode, such as SW19.'),
  postcode_2: text('Inward part of the postcode, such as 3AB.'),
  display_address: text('The address as shown to the public; RTDF: 1 to 120 characters.'),
}

/** The members of a property's address (spec §2.4), with RTDF's position and street view camera. */
export const propertyAddressMembers = {
  ...addressMembers,
  uprn: textOrNumber('Unique Property Reference Number: up to 12 digits.'),
  latitude: decimal('Degrees north, -90 to 90.'),
  longitude: decimal('Degrees east, -180 to 180.'),
  pov_latitude: decimal('Street view camera: degrees north, -90 to 90.'),
  pov_longitude: decimal('Street view camera: degrees east, -180 to 180.'),
  pov_pitch: decimal('Street view camera: degrees up, -180 to 180.'),
  pov_heading: decimal('Street view camera: compass heading in degrees, -360 to 360.'),
  pov_zoom: integer('Street view camera: zoom step.'),
}
