import type { PreflightCheck } from '../../../lib/cluster/cluster.ts';
import type { FailureCode } from '../../../lib/errors/codes.ts';
import type { FamilyAddress } from '../../../lib/host/network.ts';
import type { InstallContext } from '../../steps/host-context.ts';

/** Result of a check: `ok` with a fact worth logging, or a problem with its fix. */
export type Finding =
  | { readonly ok: true; readonly fact: string }
  | {
      readonly ok: false;
      readonly problem: string;
      readonly fix: string;
      /** The subject in machine-readable form: the DNS name. */
      readonly subject?: string;
    };

export const good = (fact: string): Finding => ({ ok: true, fact });
export const bad = (problem: string, fix: string, subject?: string): Finding => ({
  ok: false,
  problem,
  fix,
  ...(subject === undefined ? {} : { subject }),
});

export interface CheckInput extends Pick<InstallContext, 'paths' | 'settings' | 'cluster'> {
  readonly hostname: string;
  /** The host's address in each family of the machine networks. */
  readonly addresses: readonly FamilyAddress[];
  readonly signal: AbortSignal;
}

export interface Check {
  /** If listed in `preflightWarnings`, a failure is only a warning. */
  readonly name: PreflightCheck;
  /** Of the check's part in the failure. */
  readonly code: FailureCode;
  run(input: CheckInput): Promise<Finding>;
}
