/** The options of a choice: everything, or one of the values. */
export function Options({ among }: { readonly among: readonly (readonly [value: string, says: string])[] }) {
  return (
    <>
      <option value="">all</option>
      {among.map(([value, says]) => (
        <option key={value} value={value}>
          {says}
        </option>
      ))}
    </>
  )
}
