import { type FailureData, failureSentence } from '../errors/failure-data.ts';
import type { EventFields } from './journal-event.ts';

/** The parts of a failure as event fields. */
export const failureFields = ({ cause, ...failure }: FailureData): EventFields => ({
  ...failure,
  cause: cause && failureSentence(cause),
});
