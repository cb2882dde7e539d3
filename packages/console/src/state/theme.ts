/** Light, dark, or as the system has it. */
import { effect, signal } from '@preact/signals'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const place = 'property-events theme'

export const theme = signal<Theme>(themes.find((one) => one === localStorage.getItem(place)) ?? 'system')

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
  localStorage.setItem(place, theme.value)
})
