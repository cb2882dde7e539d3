/** `GET /pictures/…`: photographs of homes that do not exist, where a demo or test keys are served. Needs no key. */
import { refused } from '../http/exchange.ts'
import type { Headers } from '../http/exchange.ts'
import { openOperation } from '../http/openapi/description-routes.ts'
import { contentTag, tagMatches } from '../http/requests/entity-tag.ts'
import { withoutParameters } from '../http/requests/query.ts'
import { sharedBody } from '../http/answer-body.ts'
import type { Operation } from '../http/operation.ts'
import type { ServiceLimits } from '../http/limits.ts'

interface Context {
  readonly limits: ServiceLimits
}

/** An address has the same picture for ever. */
const headers: Headers = { 'content-type': 'image/webp', 'cache-control': 'public, max-age=86400, immutable' }

/** The WebP at `/pictures/<form>/<reference>/<name>`; `undefined`: there is none. */
export type PictureSource = (form: string, reference: string, name: string) => Uint8Array | undefined

/** Pictures are not part of the contract: no document lists them. */
export function getPicture({ limits }: Pick<Context, 'limits'>, pictureAt: PictureSource): Operation {
  return openOperation({
    path: '/pictures/:form/:reference/:name',
    mediaType: 'image/webp',
    operationId: 'getPicture',
    summary: 'A photograph of a home that does not exist',
    description: 'For the media of a demo. Needs no key.',
    ok: 'The picture.',
    problems: ['path_not_found'],
    prepare: withoutParameters(limits, ([form = '', reference = '', name = '']) => {
      return (request) => {
        const bytes = pictureAt(form, reference, name)
        if (bytes === undefined) return refused(noPicture)
        const etag = contentTag(bytes, 'identity')
        if (tagMatches(request.header('if-none-match'), etag)) {
          return { kind: 'notModified', headers, etag, feed: undefined }
        }
        return { kind: 'pieces', headers, etag, feed: undefined, body: sharedBody(bytes), coding: 'identity' }
      }
    }),
  })
}

const noPicture = {
  code: 'path_not_found',
  detail:
    'There is no picture at this path. Pictures are at /pictures/house/REF/01-front.webp, with house, terrace, bungalow or flats, a reference of letters and digits, and a room.',
} as const
