/**
 * Addresses of media as feeds have them, and what becomes of each: in listings, tables and pages in both languages, and in the receipt of
 * its publication.
 */
export interface WebAddressCase {
  readonly sent: string
  /** `undefined`: it is not shown. */
  readonly shown: string | undefined
  /**
   * What a publisher is told: nothing; a warning that it should be written otherwise; a warning that it is not shown; or it is refused.
   */
  readonly receipt: 'nothing' | 'advice' | 'not shown' | 'refused'
}

const long = 'x'.repeat(2048 - 'https://pictures.example/'.length)

export const webAddresses: readonly WebAddressCase[] = [
  ...shownAsSent('nothing', [
    'https://pictures.example/front.jpg',
    'http://pictures.example:8080/a/b.jpg?width=800&v=2#top',
    'https://pictures.example:65535/front.jpg',
    'https://pictures.example/St%20David%27s%20Hill/front.jpg',
    'https://pictures.example/100%.jpg',
    'https://pictures.example/a(1)[2],b;c=d@e!$*+~.jpg',
    'https://pictures.example?id=4',
    'https://pictures.example',
    'https://192.0.2.7/front.jpg',
    'https://[2001:db8::7]/front.jpg',
    'https://pictures_2.example./front.jpg',
    'https://lluniau-tŷ.example/front.jpg',
    'https://xn--lluniau-t-x1g.example/front.jpg',
  ]),
  ...shownAsSent('advice', [
    `https://pictures.example/${'x'.repeat(250)}`,
    `https://pictures.example/${long}`,
  ]),
  ...shownAs('nothing', {
    "https://pictures.example/St%20David's%20Hill/front.jpg":
      'https://pictures.example/St%20David%27s%20Hill/front.jpg',
    "https://pictures.example/front.jpg?of='house'": 'https://pictures.example/front.jpg?of=%27house%27',
    'HTTPS://Pictures.example/front.jpg': 'https://Pictures.example/front.jpg',
    'https://pictures.example/Tŷ_Gwyn/blaen.jpg': 'https://pictures.example/T%C5%B7_Gwyn/blaen.jpg',
    'https://pictures.example/£495,000–🏡.jpg':
      'https://pictures.example/%C2%A3495,000%E2%80%93%F0%9F%8F%A1.jpg',
    'https://pictures.example/בית.jpg?q=ŵ#ô':
      'https://pictures.example/%D7%91%D7%99%D7%AA.jpg?q=%C5%B5#%C3%B4',
  }),
  ...shownAs('advice', {
    'https://pictures.example/front of house.jpg': 'https://pictures.example/front%20of%20house.jpg',
    'https://pictures.example/a|b.jpg': 'https://pictures.example/a%7Cb.jpg',
    'https://pictures.example/{plot}^`7`.jpg?{}|^`':
      'https://pictures.example/%7Bplot%7D%5E%607%60.jpg?%7B%7D%7C%5E%60',
    'https://pictures.example/"big"<1>.jpg?"<>#"<>':
      'https://pictures.example/%22big%22%3C1%3E.jpg?%22%3C%3E#%22%3C%3E',
    'https://pictures.example/plot\\7\\front.jpg?a\\b#c\\d':
      'https://pictures.example/plot/7/front.jpg?a%5Cb#c%5Cd',
    'https://pictures.example/front.jpg ': 'https://pictures.example/front.jpg',
    'https://pictures.example/a\u00a0b.jpg': 'https://pictures.example/a%C2%A0b.jpg',
    'https://pictures.example/front.jpg\u00a0': 'https://pictures.example/front.jpg',
  }),
  ...shownAs('refused', {
    ' https://pictures.example/front.jpg': 'https://pictures.example/front.jpg',
    'https://pictures.example/front\n.jpg\r\n': 'https://pictures.example/front.jpg',
    'https://pictures.example/\u0000\u007f.jpg': 'https://pictures.example/%00%7F.jpg',
    [`https://pictures.example/${long}x`]: undefined,
    '': undefined,
    'front.jpg': undefined,
    '/front.jpg': undefined,
    '//pictures.example/front.jpg': undefined,
    'www.pictures.example/front.jpg': undefined,
    'https:/pictures.example/front.jpg': undefined,
    'https:pictures.example/front.jpg': undefined,
    'https:\\\\pictures.example/front.jpg': undefined,
    'https://': undefined,
    'https:///front.jpg': undefined,
    'https://?front.jpg': undefined,
    'https://:80/front.jpg': undefined,
    'https://pictures.example:/front.jpg': undefined,
    'https://pictures.example:http/front.jpg': undefined,
    'https://pictures.example:655350/front.jpg': undefined,
    'https://pictures example/front.jpg': undefined,
    'https://pictures%20.example/front.jpg': undefined,
    'https://agent@pictures.example/front.jpg': undefined,
    'https://agent:word@pictures.example/front.jpg': undefined,
    'https://pictures.example\\@other.example/front.jpg': undefined,
    'https://pictures.example\\front.jpg': undefined,
    'ftp://pictures.example/front.jpg': undefined,
    'file:///C:/front.jpg': undefined,
    'javascript:alert(1)': undefined,
    ' javascript:alert(1)': undefined,
    'java\nscript:alert(1)': undefined,
    'data:image/png;base64,iVBORw0KGgo=': undefined,
    'blob:https://pictures.example/7': undefined,
  }),
  ...shownAs('not shown', {
    'https://pictures.example:65536/front.jpg': undefined,
    'https://pictures.example:99999/front.jpg': undefined,
    'https://256.0.2.7/front.jpg': undefined,
    'https://192.0.2/front.jpg': undefined,
    'https://0x7f.1/front.jpg': undefined,
    'https://[.]/front.jpg': undefined,
    'https://[7]/front.jpg': undefined,
    'https://./front.jpg': undefined,
    "https://pictures'.example/front.jpg": undefined,
    'https://pictures&front.example/front.jpg': undefined,
    'https://$host/front.jpg': undefined,
    'https://‘pictures.example’/front.jpg': undefined,
  }),
]

function shownAsSent(receipt: WebAddressCase['receipt'], sent: readonly string[]): readonly WebAddressCase[] {
  return sent.map((address) => ({ sent: address, shown: address, receipt }))
}

function shownAs(
  receipt: WebAddressCase['receipt'],
  cases: Readonly<Record<string, string | undefined>>,
): readonly WebAddressCase[] {
  return Object.entries(cases).map(([sent, shown]) => ({ sent, shown, receipt }))
}
