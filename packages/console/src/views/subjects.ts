/** Views of one thing, which share how differences are shown: one file of the built console. */
export { ContactView } from './contact/contact-view.tsx'
export { PropertyView } from './property/property-view.tsx'
