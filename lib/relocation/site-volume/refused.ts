import { Failure, type FailureDetails } from '../../base/errors/failure.ts';

/** Of a volume that is not used. */
export const refused = (
  what: string,
  details: Pick<FailureDetails, 'expected' | 'found' | 'fix'>,
): Failure =>
  new Failure('usage', what, {
    code: 'site-volume-refused',
    fix: 'Nothing was changed. Create the volume again with "sno create site-volume".',
    ...details,
  });
