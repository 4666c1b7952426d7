import type { PreflightCheck } from '../../../lib/cluster/cluster.ts';
import type { FailureCode } from '../../../lib/errors/codes.ts';
import type { FamilyAddress } from '../../../lib/host/network.ts';
import type { InstallContext } from '../../steps/host-context.ts';

/** What a check saw: `ok` with a fact worth a line, or a problem with what to do about it. */
export type Finding =
  | { readonly ok: true; readonly fact: string }
  | {
      readonly ok: false;
      readonly problem: string;
      readonly fix: string;
      /** What it is about, for programs: the DNS name. */
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
  /** By which the host is known in each family that the machine networks have. */
  readonly addresses: readonly FamilyAddress[];
  readonly signal: AbortSignal;
}

export interface Check {
  /** Listed in `preflightWarnings`, its failure is only a warning. */
  readonly name: PreflightCheck;
  /** Of the failure that it is part of. */
  readonly code: FailureCode;
  run(input: CheckInput): Promise<Finding>;
}
