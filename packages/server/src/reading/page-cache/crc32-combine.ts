/**
 * The CRC-32 of two texts joined, from the CRC-32 of each and the length of the second: the arithmetic of polynomials
 * over GF(2) modulo the CRC's own. It joins compressed pieces into one gzip member.
 */

const polynomial = 0xedb88320

/** a · b modulo the polynomial; bit 31 is x^0. */
function multiply(a: number, b: number): number {
  let product = 0
  let factor = b
  for (let bit = 31; bit >= 0; bit -= 1) {
    if ((a >>> bit) & 1) product ^= factor
    factor = factor & 1 ? (factor >>> 1) ^ polynomial : factor >>> 1
  }
  return product >>> 0
}

/** x^(2^k) for k = 0 … 31. */
const squares = new Uint32Array(32)
squares[0] = 1 << 30
for (let k = 1; k < 32; k += 1) squares[k] = multiply(squares[k - 1] ?? 0, squares[k - 1] ?? 0)

/** The factor of a CRC when `byteLength` bytes follow: x^(8 · byteLength). Keep it if you use it again. */
export function crcShift(byteLength: number): number {
  let shift = 1 << 31 // x^0
  let rest = byteLength
  for (let k = 3; rest > 0; k += 1) {
    if (rest % 2 === 1) shift = multiply(squares[k & 31] ?? 0, shift)
    rest = Math.floor(rest / 2)
  }
  return shift >>> 0
}

/** The CRC-32 of `first` followed by `second`, where `secondShift` is the `crcShift` of the second's length. */
export function combineCrc(firstCrc: number, secondCrc: number, secondShift: number): number {
  return (multiply(secondShift, firstCrc) ^ secondCrc) >>> 0
}
