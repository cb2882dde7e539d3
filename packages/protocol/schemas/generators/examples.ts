/** One example for each schema that readers meet first. Invented: the flat, the agency and the numbers. */
import { exampleIds } from '../../src/example-ids.ts'

const { tenantId, agentRef, contactRef, eventId } = exampleIds

const property = {
  agent_ref: agentRef,
  branch_id: 'Wimbledon',
  published: true,
  property_type: 8,
  status: 1,
  statusstring: 'Available',
  address: {
    house_name_number: '4',
    address_2: 'Example Road',
    town: 'London',
    postcode_1: 'SW19',
    postcode_2: '3AB',
    display_address: 'Example Road, London SW19',
  },
  price_information: { price: 450_000, price_qualifier: 10, tenure_type: 2 },
  details: { summary: 'A flat on the first floor.', bedrooms: 2, bathrooms: 1, features: ['Balcony'] },
  media: [{ media_type: 1, media_url: 'https://photographs.example/4-example-road/1.jpg', sort_order: 1 }],
}

const contact = {
  contact_ref: contactRef,
  kind: 'company',
  company_name: 'Example Lettings',
  roles: ['landlord'],
}

const event = {
  tenantId,
  sequenceNumber: 1,
  eventType: 2,
  eventTypeShortCode: 'PropertyPublished',
  payload: JSON.stringify(property),
  transactionId: agentRef,
  id: eventId,
  createdDate: '2025-01-31T09:30:00.0000001',
}

const head = {
  tenantId,
  feed: 'property',
  sequenceNumber: 1,
  createdDate: event.createdDate,
  epoch: '1',
  revision: 0,
}

const fault = {
  parameter: 'page',
  code: 'not_a_count',
  message: '"0" is not allowed; page is a whole number from 1 to 999999999, in plain digits.',
}

/** By the name of the schema. */
export const schemaExamples: Readonly<Record<string, unknown>> = {
  FeedEvent: event,
  EventPage: { items: [event], page: 1, pageSize: 100, availableCount: 1, totalPages: 1 },
  EventRun: { items: [event], next: 1, head: 1, epoch: '1', revision: 0 },
  PayloadChange: { pointer: '/price_information/price', from: 450_000, to: 435_000 },
  HistoryEvent: { ...event, changes: null, changesAbsent: 'first_version' },
  History: {
    items: [{ ...event, changes: null, changesAbsent: 'first_version' }],
    next: 1,
    head: 1,
    epoch: '1',
    revision: 0,
  },
  FeedHead: head,
  Heads: { heads: [head], next: '2s-1ab2cd3-4ef5g6' },
  NewTenant: { name: 'Example Lettings, Guildford', reference: 'crm-4711' },
  TenantChange: { name: 'Example Lettings, Guildford' },
  TenantImport: {
    reference: 'crm-4711',
    name: 'Example Lettings, Guildford',
    keys: [{ label: 'Website', scopes: ['property:read'] }],
  },
  NewKey: { label: 'Website', grants: [{ tenantId, scopes: ['property:read'] }] },
  KeyChange: { label: 'Website', networks: ['192.0.2.0/24'] },
  RotateRequest: { overlapHours: 24 },
  Acknowledgement: { sequenceNumber: 1, epoch: '1' },
  ExpectedIntervalRequest: { seconds: 3_600 },
  NewWebhook: { url: 'https://www.example.com/property-events', feed: 'property', label: 'Website' },
  WebhookChange: { state: 'paused' },
  WebhookSecretRequest: { overlapSeconds: 86_400 },
  WebhookCursor: { after: 1 },
  WebhookResend: { sequenceNumber: 1 },
  WebhookPause: { paused: true },
  ConsumerResult: {
    agentRef,
    sequenceNumber: 1,
    outcome: 'live',
    url: 'https://www.example.com/homes/4-example-road',
  },
  PropertyPayload: property,
  ContactPayload: contact,
  PropertyState: { payload: property },
  PropertyRemoval: { remove: { agentRef, reason: 9 } },
  ContactPublication: { payload: contact },
  ProblemError: fault,
  Problem: {
    type: '/docs#invalid_parameter',
    title: 'A parameter is not allowed',
    status: 400,
    detail: fault.message,
    instance: '/api/func/api/v1/events/getevents',
    code: 'invalid_parameter',
    requestId: '5d0c8a52',
    errors: [fault],
  },
}

/** The schemas with their examples. */
export function withExamples(schemas: Readonly<Record<string, object>>): object {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const example = schemaExamples[name]
      return [name, example === undefined ? schema : { ...schema, examples: [example] }]
    }),
  )
}
