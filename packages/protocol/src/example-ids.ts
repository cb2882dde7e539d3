/** The invented things that the examples of the OpenAPI document are about, in paths and in bodies. */
export const exampleIds = {
  tenantId: '2f6b0c1e-4a57-4c1f-9d3e-8a1b5c7d9e02',
  agentRef: '0d4b6a1e-58c5-4f0e-9a57-2b7c1f3d9e10',
  contactRef: '7c1d52aa-0b6e-4b0f-8f55-31c9f3f0a2b4',
  eventId: '01946e3a-52f0-7c3b-9a61-5d2f0e8b7c11',
  /** An erasure, a hold, a restriction or a deletion. */
  listedId: '01947b1c-9d20-7e48-8c3a-6f5b2a4d1e37',
  keyId: '4hG7kQ2mZx9P',
  actor: 'key:5Rk2pQ7w',
} as const
