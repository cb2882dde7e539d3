/** Light, dark, or as the system has it. */
import { theme, themes } from '../state/theme.ts'

const names = { system: 'System', light: 'Light', dark: 'Dark' } as const

export function ThemeSwitch() {
  return (
    <select
      class="theme"
      aria-label="Colours"
      value={theme.value}
      onChange={({ currentTarget }) => {
        theme.value = themes.find((one) => one === currentTarget.value) ?? 'system'
      }}
    >
      {themes.map((one) => (
        <option key={one} value={one}>
          {names[one]}
        </option>
      ))}
    </select>
  )
}
