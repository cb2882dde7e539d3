/** Written by `npm run openapi`. Do not edit. */

/** An object whose known members have these types, and which may have others. */
type Open<Members> = Members | (Members & { readonly [member: string]: unknown })

type PropertyPayloadAddress = Open<{
  /** House name or number; RTDF: 1 to 60 characters. */
  readonly house_name_number?: string | null | undefined
  /** Second line, usually the street; RTDF: at most 60 characters. */
  readonly address_2?: string | null | undefined
  /** Third line; may be empty; RTDF: at most 60 characters. */
  readonly address_3?: string | null | undefined
  /** Fourth line; may be empty; RTDF: at most 60 characters. */
  readonly address_4?: string | null | undefined
  /** Town or city; RTDF: 1 to 60 characters. */
  readonly town?: string | null | undefined
  /** Outward part of the postcode, such as SW19. */
  readonly postcode_1?: string | null | undefined
  /** Inward part of the postcode, such as 3AB. */
  readonly postcode_2?: string | null | undefined
  /** The address as shown to the public; RTDF: 1 to 120 characters. */
  readonly display_address?: string | null | undefined
  /** Unique Property Reference Number: up to 12 digits. */
  readonly uprn?: string | number | null | undefined
  /** Degrees north, -90 to 90. */
  readonly latitude?: number | null | undefined
  /** Degrees east, -180 to 180. */
  readonly longitude?: number | null | undefined
  /** Street view camera: degrees north, -90 to 90. */
  readonly pov_latitude?: number | null | undefined
  /** Street view camera: degrees east, -180 to 180. */
  readonly pov_longitude?: number | null | undefined
  /** Street view camera: degrees up, -180 to 180. */
  readonly pov_pitch?: number | null | undefined
  /** Street view camera: compass heading in degrees, -360 to 360. */
  readonly pov_heading?: number | null | undefined
  /** Street view camera: zoom step. */
  readonly pov_zoom?: number | null | undefined
}>

type PropertyPayloadPriceInformation = Open<{
  /** Asking price, or rent per `rent_frequency`, in pounds; RTDF: at least 1. */
  readonly price?: number | null | undefined
  /** Lettings: deposit in pounds. Above 0, it marks the property as a letting. */
  readonly deposit?: number | null | undefined
  /** Code: 0 Default, 1 POA, 2 Guide Price, 3 Fixed Price, 4 Offers in excess of, 5 OIRO, 6 Sale by Tender, 7 From, 9 Shared Ownership, 10 Offers over, 11 Part Buy, Part Rent, 12 Shared Equity, 15 Offers Invited, 16 Coming Soon. */
  readonly price_qualifier?: number | null | undefined
  /** Text form of the price qualifier. */
  readonly price_qualifier_string?: string | null | undefined
  /** Lettings: fees in words or pounds; RTDF: at most 4,000 characters. */
  readonly administration_fee?: string | number | null | undefined
  /** Lettings, code: 1 Yearly, 4 Quarterly, 12 Monthly, 52 Weekly, 365 Daily. Above 0, it marks the property as a letting. */
  readonly rent_frequency?: number | null | undefined
  /** Sales, code: 1 Freehold, 2 Leasehold, 3 Feudal, 4 Commonhold, 5 Share of Freehold, 6 Non-Traditional. */
  readonly tenure_type?: number | null | undefined
  /** Sales: sold by auction. */
  readonly auction?: boolean | null | undefined
  /** Sales: years left on the lease. */
  readonly tenure_unexpired_years?: number | null | undefined
  /** Commercial: price for one unit of area, in pounds. */
  readonly price_per_unit_area?: number | null | undefined
  /** Commercial: price for one unit of area and year, in pounds. */
  readonly price_per_unit_per_annum?: number | null | undefined
  /** Sales: offered as shared ownership. */
  readonly shared_ownership?: boolean | null | undefined
  /** Sales: share offered, in per cent, 1 to 99. */
  readonly shared_ownership_percentage?: number | null | undefined
  /** Sales: rent for the share not owned, in pounds. */
  readonly shared_ownership_rent?: number | null | undefined
  /** Sales, code: 1 Yearly, 4 Quarterly, 12 Monthly, 52 Weekly, 365 Daily. */
  readonly shared_ownership_rent_frequency?: number | null | undefined
  /** Sales: ground rent in pounds a year. */
  readonly annual_ground_rent?: number | null | undefined
  /** Sales: years between reviews of the ground rent. */
  readonly ground_rent_review_period_years?: number | null | undefined
  /** Sales: rise of the ground rent at a review, in per cent. */
  readonly ground_rent_percentage_increase?: number | null | undefined
  /** Sales: service charge in pounds a year. */
  readonly annual_service_charge?: number | null | undefined
}>

type PropertyPayloadDetailsObligations = Open<{
  /** A listed building. */
  readonly Listed?: boolean | null | undefined
  /** Restrictions or covenants apply. */
  readonly Restrictions?: boolean | null | undefined
  /** Others need access through the property. */
  readonly RequiredAccess?: boolean | null | undefined
  /** A public right of way crosses the property. */
  readonly RightOfWay?: boolean | null | undefined
  /** RTDF's spelling of `Listed`. */
  readonly listed?: boolean | null | undefined
  /** RTDF's spelling of `Restrictions`. */
  readonly restrictions?: boolean | null | undefined
  /** RTDF's spelling of `RequiredAccess`. */
  readonly required_access?: boolean | null | undefined
  /** RTDF's spelling of `RightOfWay`. */
  readonly rights_of_way?: boolean | null | undefined
}>

type PropertyPayloadDetailsEpcInformation = Open<{
  /** Number of the energy performance certificate. */
  readonly epc_certificate_id?: string | number | null | undefined
  /** Current efficiency, 1 to 100 or a little more. */
  readonly current_energy_efficiency?: string | number | null | undefined
  /** Efficiency after the improvements the certificate lists. */
  readonly potential_energy_efficiency?: string | number | null | undefined
  /** Current rating, A to G. */
  readonly current_energy_rating?: string | number | null | undefined
  /** Rating after the improvements the certificate lists, A to G. */
  readonly potential_energy_rating?: string | number | null | undefined
  /** Of the coming certificates: how well the building keeps its heat. */
  readonly fabric_performance?: string | number | null | undefined
  /** Of the coming certificates: the heating. */
  readonly heating_system?: string | number | null | undefined
  /** Of the coming certificates: how smart the building is. */
  readonly smart_readiness?: string | number | null | undefined
  /** Of the coming certificates: what the energy costs. */
  readonly energy_cost?: string | number | null | undefined
}>

type PropertyPayloadDetailsRisks = Open<{
  /** Flooded in the last five years. */
  readonly flooded_in_last_five_years?: boolean | null | undefined
  /** Codes, null elements allowed: river River, sea Sea, groundwater Groundwater, lake Lake, reservoir Reservoir, other Other. */
  readonly sources_of_flooding?: readonly unknown[] | null | undefined
  /** Has flood defences. */
  readonly flood_defences?: boolean | null | undefined
}>

type PropertyPayloadDetailsSizing = Open<{
  /** Smallest size, in `area_unit`. */
  readonly minimum?: number | null | undefined
  /** Largest size, in `area_unit`. */
  readonly maximum?: number | null | undefined
  /** Code: 1 sq ft, 2 sq m, 3 acre, 4 hectares. */
  readonly area_unit?: number | null | undefined
}>

type PropertyPayloadDetailsRooms = Open<{
  /** Name of the room; RTDF: 1 to 120 characters. */
  readonly room_name?: string | null | undefined
  /** RTDF: at most 1,000 characters. */
  readonly room_description?: string | null | undefined
  /** Length in `room_dimension_unit`. */
  readonly room_length?: number | null | undefined
  /** Width in `room_dimension_unit`. */
  readonly room_width?: number | null | undefined
  /** Code: 5 Metres, 6 Centimetres, 7 Millimetres, 8 Feet, 9 Inches. */
  readonly room_dimension_unit?: number | null | undefined
  /** Dimensions in words; RTDF: 1 to 120 characters. */
  readonly room_dimension_text?: string | null | undefined
  /** Absolute http or https addresses of photographs; RTDF: at most 10. */
  readonly room_photo_urls?: readonly (string | null)[] | null | undefined
}>

type PropertyPayloadDetails = Open<{
  /** Short description; RTDF: 1 to 1,000 characters. */
  readonly summary?: string | null | undefined
  /** Full description, sometimes with HTML: never put it into a page unescaped. */
  readonly description?: string | null | undefined
  /** Selling points; may be empty; RTDF: at most 10, of 1 to 200 characters. */
  readonly features?: readonly (string | null)[] | null | undefined
  /** Number of bedrooms. */
  readonly bedrooms?: number | null | undefined
  /** Number of bathrooms. */
  readonly bathrooms?: number | null | undefined
  /** Number of reception rooms. */
  readonly reception_rooms?: number | null | undefined
  /** Code: 1 Basement, 2 Ground Floor, 3 1st Floor, 4 2nd Floor, 5 Higher than 2nd floor (no lift), 6 Higher than 2nd floor (with lift). */
  readonly entrance_floor?: number | null | undefined
  /** Codes, may repeat: 37 Level access, 38 Lift access, 39 Ramped access, 40 Wet room, 41 Wide doorways, 42 Not suitable for wheelchair users, 43 Step Free Access, 44 Level Access Shower, 45 Lateral Living. */
  readonly accessibility?: readonly (number | null)[] | null | undefined
  /** Codes: 1 Air Conditioning, 2 Central, 3 Double Glazing, 4 Eco-Friendly, 5 Electric, 6 Gas, 7 Gas Central, 8 Night Storage, 9 Oil, 10 Solar, 11 Solar Water, 12 Under Floor, 46 Wood Burner, 47 Open Fire, 48 Biomass Boiler, 49 Ground Source Heat Pump, 50 Air Source Heat Pump, 51 Solar Photovoltaic Thermal, 52 Underfloor Heating, 53 Solar Thermal. */
  readonly heating?: readonly (number | null)[] | null | undefined
  /** Code: mains_supply Mains supply, private_supply Private supply. */
  readonly sewerage?: string | null | undefined
  /** Code: mains_supply Mains supply, private_supply Private supply. */
  readonly water?: string | null | undefined
  /** Codes: mains_supply Mains supply, wind_turbine Wind turbine, solar_pv_panels Solar PV panels, private_supply Private supply. */
  readonly electricity?: readonly (string | null)[] | null | undefined
  /** What binds the owner; some payloads have an empty array. */
  readonly obligations?: PropertyPayloadDetailsObligations | readonly unknown[] | null | undefined
  /** Energy performance certificate. */
  readonly epc_information?: PropertyPayloadDetailsEpcInformation | null | undefined
  /** Lettings: an insurance may replace the deposit. True marks the property as a letting. */
  readonly deposit_replacement_scheme?: boolean | null | undefined
  /** Seen here in some payloads; the usual place is `risks`. */
  readonly flood_defences?: boolean | null | undefined
  /** Codes, null elements allowed: adsl Copper wire, cable Cable, fttc Fibre to the cabinet, fttp Fibre to the premises, none None. */
  readonly broadband?: readonly unknown[] | null | undefined
  /** Codes, null elements allowed: river River, sea Sea, groundwater Groundwater, lake Lake, reservoir Reservoir, other Other; the usual place is `risks`. */
  readonly sources_of_flooding?: readonly unknown[] | null | undefined
  /** RTDF's place of the risks; the spec's is beside `details`. */
  readonly risks?: PropertyPayloadDetailsRisks | null | undefined
  /** Codes: 13 Allocated, 14 Communal, 15 Covered, 16 Garage, 17 Driveway, 18 Gated, 19 Off Street, 20 On Street, 21 Rear, 22 Permit, 23 Private, 24 Residents, 54 No Permit, 55 Not Allocated, 56 No Parking Available, 57 EV Charging, 58 Disabled Parking Available, 59 No Disabled Parking Available, 60 Garage En Bloc. */
  readonly parking?: readonly (number | null)[] | null | undefined
  /** Codes: 29 Back Garden, 30 Communal Garden, 31 Enclosed Garden, 32 Front Garden, 33 Private Garden, 34 Rear Garden, 35 Terrace, 36 Patio. */
  readonly outside_space?: readonly (number | null)[] | null | undefined
  /** Year of construction. */
  readonly year_built?: number | null | undefined
  /** Number of floors. */
  readonly floors?: number | null | undefined
  /** Area inside, in `internal_area_unit`. */
  readonly internal_area?: number | null | undefined
  /** Code: 1 sq ft, 2 sq m, 3 acre, 4 hectares. */
  readonly internal_area_unit?: number | null | undefined
  /** Area of the land, in `land_area_unit`. */
  readonly land_area?: number | null | undefined
  /** Code: 1 sq ft, 2 sq m, 3 acre, 4 hectares. */
  readonly land_area_unit?: number | null | undefined
  /** Range of sizes on offer. */
  readonly sizing?: PropertyPayloadDetailsSizing | null | undefined
  /** Code: 1 Good, 2 Some work needed, 3 Work required throughout, 4 Major renovation required. */
  readonly condition?: number | null | undefined
  /** Lettings, code: 0 Furnished, 1 Part Furnished, 2 Unfurnished, 4 Furnished or Unfurnished. Above 0, it marks the property as a letting. */
  readonly furnished_type?: number | null | undefined
  /** Lettings: pets are allowed. */
  readonly pets_allowed?: boolean | null | undefined
  /** Lettings: smokers are considered. */
  readonly smokers_considered?: boolean | null | undefined
  /** Lettings: housing benefit is considered. */
  readonly housing_benefit_considered?: boolean | null | undefined
  /** Lettings: sharers are considered. */
  readonly sharers_considered?: boolean | null | undefined
  /** Has a burglar alarm. */
  readonly burglar_alarm?: boolean | null | undefined
  /** Has a washing machine. */
  readonly washing_machine?: boolean | null | undefined
  /** Has a dishwasher. */
  readonly dishwasher?: boolean | null | undefined
  /** Lettings: all bills are in the rent. */
  readonly all_bills_inc?: boolean | null | undefined
  /** Lettings: water is in the rent. */
  readonly water_bill_inc?: boolean | null | undefined
  /** Lettings: gas is in the rent. */
  readonly gas_bill_inc?: boolean | null | undefined
  /** Lettings: electricity is in the rent. */
  readonly electricity_bill_inc?: boolean | null | undefined
  /** Lettings: oil is in the rent. */
  readonly oil_bill_inc?: boolean | null | undefined
  /** Lettings: council tax is in the rent. */
  readonly council_tax_inc?: boolean | null | undefined
  /** Lettings: the television licence is in the rent. */
  readonly tv_licence_inc?: boolean | null | undefined
  /** Lettings: satellite or cable television is in the rent. */
  readonly sat_cable_tv_bill_inc?: boolean | null | undefined
  /** Lettings: the internet connection is in the rent. */
  readonly internet_bill_inc?: boolean | null | undefined
  /** No council tax is due. */
  readonly council_tax_exempt?: boolean | null | undefined
  /** Code: A, B, C, D, E, F, G, H, I, TBC, DELETED. */
  readonly council_tax_band?: string | null | undefined
  /** Northern Ireland: domestic rates in pounds a year. */
  readonly domestic_rates?: number | null | undefined
  /** Commercial: a business is sold with the property. */
  readonly business_for_sale?: boolean | null | undefined
  /** Commercial, codes: 1 A1 Shops, 4 A2 Financial and Professional Services, 7 A3 Restaurants and Cafes, 10 A4 Drinking Establishments, 13 A5 Hot Food Take away, 16 B1 Business, 19 B2 General Industrial, 22 B8 Storage and Distribution, 25 C1 Hotels, 28 C2 Residential Institutions, 31 C2A Secure Residential Institution, 34 C3 Dwelling Houses, 37 D1 Non-Residential Institutions, 40 D2 Assembly and Leisure, 43 Sui Generis 1, 46 Sui Generis 2. */
  readonly comm_use_class?: readonly (number | null)[] | null | undefined
  /** Rooms; RTDF: at most 99. */
  readonly rooms?: readonly (PropertyPayloadDetailsRooms | null)[] | null | undefined
}>

type PropertyPayloadMedia = Open<{
  /** Code: 1 Image, 2 Floor Plan, 3 Brochure, 4 Virtual Tour, 5 Audio Tour, 6 EPC, 7 EPC Graph. */
  readonly media_type?: number | null | undefined
  /** Absolute http or https address without user name and password, at most 2,048 characters. */
  readonly media_url?: string | null | undefined
  /** RTDF: at most 50 characters. */
  readonly caption?: string | null | undefined
  /** Place among the media, from 0. */
  readonly sort_order?: number | null | undefined
  /** Last change, `DD-MM-YYYY HH:mm:ss`, Europe/London (D24). */
  readonly media_update_date?: string | null | undefined
}>

type PropertyPayloadRisks = Open<{
  /** Flooded in the last five years. */
  readonly flooded_in_last_five_years?: boolean | null | undefined
  /** Codes, null elements allowed: river River, sea Sea, groundwater Groundwater, lake Lake, reservoir Reservoir, other Other. */
  readonly sources_of_flooding?: readonly unknown[] | null | undefined
  /** Has flood defences. */
  readonly flood_defences?: boolean | null | undefined
}>

type PropertyPayloadPrincipal = Open<{
  /** RTDF: 6 to 200 characters. */
  readonly principal_email_address?: string | null | undefined
  /** Send mail when the property goes live. */
  readonly auto_email_when_live?: boolean | null | undefined
  /** Send mail when the property changes. */
  readonly auto_email_updates?: boolean | null | undefined
}>

/** The state of one property at one moment. Every field but agent_ref may be absent or null; unknown fields pass. */
export type PropertyPayload = Open<{
  /** The property: UUID, compared without regard to case (D16). */
  readonly agent_ref: string
  /** The branch that markets the property, in the publisher's own words. */
  readonly branch_id?: string | null | undefined
  /** Visible to the public. Required unless the event names its type (D12). */
  readonly published?: boolean | null | undefined
  /** RTDF property type code, such as 8 Flat or 4 Detached house. */
  readonly property_type?: number | null | undefined
  /** Code: 1 Available, 2 SSTC, 3 SSTCM, 4 Under Offer, 5 Reserved, 6 Let Agreed. Any may follow any (D27). 6 marks a letting. */
  readonly status?: number | null | undefined
  /** Text form of `status`. */
  readonly statusstring?: string | null | undefined
  /** Creation of the listing, `DD-MM-YYYY HH:mm:ss`, Europe/London (D24). */
  readonly create_date?: string | null | undefined
  /** Last change of the listing, `DD-MM-YYYY HH:mm:ss`, Europe/London (D24). */
  readonly update_date?: string | null | undefined
  /** Lettings: length of the contract in months. Above 0, it marks the property as a letting. */
  readonly contract_months?: number | null | undefined
  /** Where the property is. */
  readonly address?: PropertyPayloadAddress | null | undefined
  /** What it costs. */
  readonly price_information?: PropertyPayloadPriceInformation | null | undefined
  /** What it is like. */
  readonly details?: PropertyPayloadDetails | null | undefined
  /** Photographs, floor plans, brochures, tours; RTDF: at most 999. */
  readonly media?: readonly (PropertyPayloadMedia | null)[] | null | undefined
  /** What threatens it. */
  readonly risks?: PropertyPayloadRisks | null | undefined
  /** How to get there. */
  readonly directions?: string | null | undefined
  /** Reference assigned by the service, or the original one of an adapter (D16). */
  readonly service_reference?: string | null | undefined
  /** The agent's own reference. */
  readonly reference?: string | number | null | undefined
  /** Lettings: registration in the private rented sector database. */
  readonly prs_registration?: string | number | null | undefined
  /** Newly built. */
  readonly new_home?: boolean | null | undefined
  /** Lettings: for students. */
  readonly student_property?: boolean | null | undefined
  /** Lettings: a share of a house or flat. */
  readonly house_flat_share?: boolean | null | undefined
  /** Lettings: first day, `DD-MM-YYYY`. */
  readonly date_available?: string | null | undefined
  /** Lettings: shortest term in months. Above 0, it marks the property as a letting. */
  readonly minimum_term?: number | null | undefined
  /** Lettings, code: 0 Not specified, 1 Long term, 2 Short term, 4 Commercial. Above 0, it marks the property as a letting. */
  readonly let_type?: number | null | undefined
  /** Who is notified when the property goes live (RTDF). */
  readonly principal?: PropertyPayloadPrincipal | null | undefined
  /** Why the property was removed (D26), in words or as a code: 7 Sold by Us, 8 Sold by Another Agent, 9 Withdrawn from Market, 10 Lost Instruction, 11 Removed, 12 Let by Us. */
  readonly removal_reason?: string | number | null | undefined
  /** Set by the service when it has reduced the payload to its reference (D17). */
  readonly erased?: boolean | null | undefined
  /** Set by the service in place of a superseded payload that was not kept any longer (D17). */
  readonly thinned?: boolean | null | undefined
}>

type ContactPayloadCommunicationsConsent = Open<{
  /** True: agreed to marketing. False: refused. Absent or null: never asked. */
  readonly marketing?: boolean | null | undefined
  /** When that was said, `DD-MM-YYYY HH:mm:ss`, Europe/London (D24). */
  readonly given_date?: string | null | undefined
  /** Where that was said, such as website form. */
  readonly source?: string | null | undefined
}>

type ContactPayloadCommunications = Open<{
  /** Code: email E-mail address, phone Telephone, fixed line, mobile Mobile telephone, post Letter to the address, fax Fax, website Website, other Other. */
  readonly channel?: string | null | undefined
  /** The address or number; may be absent for `post`, which goes to `address`. */
  readonly value?: string | null | undefined
  /** What the contact calls it, such as work. */
  readonly label?: string | null | undefined
  /** The contact would rather be reached this way. */
  readonly preferred?: boolean | null | undefined
  /** What the contact agreed to for this channel. */
  readonly consent?: ContactPayloadCommunicationsConsent | null | undefined
}>

type ContactPayloadAddress = Open<{
  /** House name or number; RTDF: 1 to 60 characters. */
  readonly house_name_number?: string | null | undefined
  /** Second line, usually the street; RTDF: at most 60 characters. */
  readonly address_2?: string | null | undefined
  /** Third line; may be empty; RTDF: at most 60 characters. */
  readonly address_3?: string | null | undefined
  /** Fourth line; may be empty; RTDF: at most 60 characters. */
  readonly address_4?: string | null | undefined
  /** Town or city; RTDF: 1 to 60 characters. */
  readonly town?: string | null | undefined
  /** Outward part of the postcode, such as SW19. */
  readonly postcode_1?: string | null | undefined
  /** Inward part of the postcode, such as 3AB. */
  readonly postcode_2?: string | null | undefined
  /** The address as shown to the public; RTDF: 1 to 120 characters. */
  readonly display_address?: string | null | undefined
  /** ISO 3166-1 code of two letters, such as GB. */
  readonly country?: string | null | undefined
}>

type ContactPayloadProperties = Open<{
  /** The property: `agent_ref` of its payload. */
  readonly agent_ref?: string | null | undefined
  /** What the contact is to this property: a code as in `roles`. */
  readonly role?: string | null | undefined
}>

/** The state of one contact at one moment. Every field but contact_ref may be absent or null; unknown fields pass. */
export type ContactPayload = Open<{
  /** The contact: UUID, compared without regard to case (D16). */
  readonly contact_ref: string
  /** Code: person Person, company Company. */
  readonly kind?: string | null | undefined
  /** Person: Ms, Dr and so on; advised: at most 40 characters. */
  readonly title?: string | null | undefined
  /** Person: given names; advised: at most 100 characters. */
  readonly first_name?: string | null | undefined
  /** Person: middle names; advised: at most 100 characters. */
  readonly middle_name?: string | null | undefined
  /** Person: family name; advised: at most 100 characters. */
  readonly last_name?: string | null | undefined
  /** Person: such as OBE; advised: at most 40 characters. */
  readonly suffix?: string | null | undefined
  /** How letters begin, after "Dear"; advised: at most 100 characters. */
  readonly salutation?: string | null | undefined
  /** Company, or the company of a person; advised: at most 200 characters. */
  readonly company_name?: string | null | undefined
  /** Company: number at Companies House, 8 characters. */
  readonly company_number?: string | null | undefined
  /** Person: position in the company; advised: at most 100 characters. */
  readonly job_title?: string | null | undefined
  /** What the contact is to the agency: applicant Applicant: looks for a property, buyer Buyer, vendor Vendor, landlord Landlord, tenant Tenant, guarantor Guarantor of a tenant, solicitor Solicitor or conveyancer, mortgage_broker Mortgage broker, surveyor Surveyor, developer Developer, contractor Contractor for repairs, other Other. */
  readonly roles?: readonly (string | null)[] | null | undefined
  /** How to reach the contact; advised: at most 50. */
  readonly communications?: readonly (ContactPayloadCommunications | null)[] | null | undefined
  /** Where letters go. */
  readonly address?: ContactPayloadAddress | null | undefined
  /** The branch that looks after the contact, in the publisher's own words. */
  readonly branch_id?: string | null | undefined
  /** Properties the contact has to do with; advised: at most 1,000. */
  readonly properties?: readonly (ContactPayloadProperties | null)[] | null | undefined
  /** Free text; advised: at most 4,000 characters. */
  readonly notes?: string | null | undefined
  /** Creation of the contact, `DD-MM-YYYY HH:mm:ss`, Europe/London (D24). */
  readonly create_date?: string | null | undefined
  /** Last change of the contact, `DD-MM-YYYY HH:mm:ss`, Europe/London (D24). */
  readonly update_date?: string | null | undefined
  /** Reference of the contact in the publisher's system (D16). */
  readonly service_reference?: string | null | undefined
  /** Set by the service when it has reduced the payload to its reference (D17). */
  readonly erased?: boolean | null | undefined
  /** Set by the service in place of a superseded payload that was not kept any longer (D17). */
  readonly thinned?: boolean | null | undefined
}>
