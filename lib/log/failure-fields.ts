import { type FailureData, failureSentence } from '../errors/failure-data.ts';
import type { EventFields } from './journal-event.ts';

/** The parts of a failure as fields of an event. */
export const failureFields = ({
  code,
  kind,
  what,
  expected,
  found,
  fix,
  cause,
  stack,
}: FailureData): EventFields => ({
  code,
  kind,
  what,
  expected,
  found,
  fix,
  cause: cause === undefined ? undefined : failureSentence(cause),
  stack,
});
