/** Every field of a listing that shows a text of its payload. */
import type { Listing } from '../../src/listing/index.ts'

/** A payload that has a text in each of these fields. */
export function payloadOf(text: string): object {
  return {
    status: 99,
    statusstring: text,
    directions: text,
    address: {
      house_name_number: text,
      address_2: text,
      address_3: text,
      address_4: text,
      town: text,
      display_address: text,
    },
    price_information: { price: 1, price_qualifier: 99, price_qualifier_string: text },
    details: {
      summary: text,
      description: text,
      features: [text],
      rooms: [{ room_name: text, room_description: text, room_dimension_text: text }],
    },
    media: [{ media_type: 1, media_url: 'https://pictures.example/1.jpg', caption: text }],
    removal_reason: text,
  }
}

/** What its listing shows in them. */
export function shownIn(home: Listing): Readonly<Record<string, string | null | undefined>> {
  return {
    status: home.status?.name,
    directions: home.directions.text,
    display: home.address.display,
    line: home.address.lines[0],
    town: home.address.town,
    price: home.price.text?.replace(/ £1$/, ''),
    summary: home.summary.text,
    description: home.description.text,
    feature: home.features[0],
    room: home.rooms[0]?.name,
    roomDescription: home.rooms[0]?.description,
    roomSize: home.rooms[0]?.size,
    caption: home.photographs[0]?.caption,
    removalReason: home.removalReason,
  }
}
