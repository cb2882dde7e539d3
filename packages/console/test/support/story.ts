/** What a property went through, for its view to show. */
import { publish } from '../../../server/test/support/http-client.ts'
import { property } from '../../../server/test/support/property.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'

/** A property that was listed, reduced, taken down and is back. */
export async function publishStory(service: TestService, agentRef: string): Promise<void> {
  const picture = (name: string, caption = '') => ({
    media_type: 1,
    media_url: `https://images.example.com/${name}.jpg`,
    caption,
  })
  const home = (price: number, further: object = {}) => ({
    payload: property({
      agent_ref: agentRef,
      address: { display_address: '12 Mill Lane, Aylsham', postcode_1: 'NR11', postcode_2: '6AB' },
      price_information: { price },
      details: { summary: 'A house by the river with three bedrooms, reduced for sale.' },
      media: [picture('front', 'Front'), picture('kitchen', 'Kitchen'), picture('garden')],
      ...further,
    }),
  })
  await publish(service, home(310_000))
  await publish(
    service,
    home(295_000, {
      details: { summary: 'A house by the river with three bedrooms, reduced for a quick sale.' },
    }),
  )
  await publish(service, home(295_000, { status: 4 }))
  await publish(service, { remove: { agentRef, reason: 9 } })
  await publish(
    service,
    home(289_950, {
      media: [picture('new', 'Sunset'), picture('garden'), picture('front', 'From the street')],
    }),
  )
}
