/** The drawings of icons, each the `d` of a path. */

/** In a box of 16 × 16, drawn with lines. */
export const drawings = {
  overview: 'M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z',
  feed: 'M2 4h12M2 8h12M2 12h8',
  contact: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 14c.5-3 3-4 6-4s5.5 1 6 4',
  key: 'M5.5 13a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM7.3 8.7 13 3M11 5l2 2',
  consumers: 'M3 3v10M3 8h6M9 5l4 3-4 3z',
  webhooks: 'M2 8h9M7.5 4.5 11 8l-3.5 3.5M14 3v10',
  publications: 'M8 11V2M4.5 5.5 8 2l3.5 3.5M2 11v3h12v-3',
  playground: 'M6 2v4L2.5 13h11L10 6V2M5 2h6',
  erase: 'M2.5 4h11M6 4V2h4v2M4 4l.7 10h6.6L12 4M6.7 7v4M9.3 7v4',
  audit: 'M4 2h8v12H4zM6.5 5h3M6.5 8h3M6.5 11h2',
  health: 'M1.5 8.5h3L6 4l3 9 2-6 1 1.5h2.5',
  reference: 'M3 2h7l3 3v9H3zM10 2v3h3M5.5 8h5M5.5 11h5',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3 3',
  attention: 'M8 2 1.5 13.5h13zM8 6.5v3.5M8 12v.2',
  good: 'M2.5 8.5 6 12l7.5-8',
  download: 'M8 2v9M4.5 7.5 8 11l3.5-3.5M2 14h12',
  show: 'M1 8c2-3 4.5-4.5 7-4.5S13 5 15 8c-2 3-4.5 4.5-7 4.5S3 11 1 8zM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  restrict: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM4 4l8 8',
} as const

export type IconName = keyof typeof drawings
