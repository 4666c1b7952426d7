import type { FailureCode } from '../../../lib/base/errors/codes.ts';
import type { Cluster, PreflightCheck } from '../../../lib/config/cluster/cluster.ts';
import type { FamilyAddress } from '../../../lib/host/network.ts';
import type { PlainHost } from '../host-context.ts';

/** Result of a check: `ok` with a fact worth logging, or a problem with its fix. */
export type PreflightFinding =
  | {
      readonly ok: true;
      readonly fact: string;
      /** What people should know all the same. */
      readonly notices?: readonly string[];
    }
  | {
      readonly ok: false;
      readonly problem: string;
      readonly fix: string;
      /** The subject in machine-readable form: the DNS name. */
      readonly subject?: string;
    };

export const good = (fact: string) => ({ ok: true, fact }) as const satisfies PreflightFinding;
export const bad = (problem: string, fix: string, subject?: string): PreflightFinding => ({
  ok: false,
  problem,
  fix,
  ...(subject === undefined ? {} : { subject }),
});

/** `Described`: what the check needs of the cluster's description. */
export interface CheckInput<Described extends Cluster = Cluster>
  extends Pick<PlainHost, 'paths' | 'settings'> {
  readonly cluster: Described;
  readonly hostname: string;
  /** The host's address in each family of the machine networks. */
  readonly addresses: readonly FamilyAddress[];
  readonly signal: AbortSignal;
}

export interface Check<Described extends Cluster = Cluster> {
  /**
   * If listed in `preflightWarnings`, a failure is only a warning. `seal` cannot be: less than asked is never
   * done; `dns-search` always is.
   */
  readonly name: PreflightCheck | 'seal' | 'dns-search';
  /** A failure is only a warning, whatever the cluster's description says. */
  readonly onlyWarns?: true;
  /** Of the check's part in the failure. */
  readonly code: FailureCode;
  run(input: CheckInput<Described>): Promise<PreflightFinding>;
}

/** The same check where nothing of the installation depends on it. */
export const warningOnly = (check: Check): Check => ({ ...check, onlyWarns: true });
