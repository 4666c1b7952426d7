import { Failure } from '../../base/errors/failure.ts';

/** Of a volume that is not used. */
export const refused = (
  what: string,
  details: { readonly expected?: string; readonly found?: string; readonly fix?: string },
): Failure =>
  new Failure('usage', what, {
    code: 'site-volume-refused',
    fix: 'Nothing was changed. Create the volume again with "sno create site-volume".',
    ...details,
  });
