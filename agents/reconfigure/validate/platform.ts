import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import type { NodeFacts } from '../../../lib/relocation/relocatable/validation/facts.ts';

/** What the probe is made of, for one kind of control plane. */
export interface ProbeMaterial {
  /** An etcd that is on every such host: it serves HTTP, and keeps what it is told. */
  readonly image: string;
  /** Under which user and with which profile its pod runs. */
  readonly securityContext: object;
  /** Why Services and node ports are not tried; undefined: they are. */
  readonly withoutServices: string | undefined;
}

/** What is asked differently of each kind of control plane. */
export interface Platform {
  /** For how long nothing may change. */
  readonly windowMs: number;
  probeMaterial(client: KubeClient, limits: Limits): Promise<ProbeMaterial>;
  facts(
    client: KubeClient,
    limits: Limits,
  ): Promise<
    Pick<
      NodeFacts,
      | 'certificates'
      | 'kubelet'
      | 'ownNames'
      | 'otherFaults'
      | 'otherNotes'
      | 'operators'
      | 'versions'
    > & {
      /** Images that no pod names, and what names them. */
      readonly unitImages: readonly { readonly image: string; readonly path: string }[];
    }
  >;
}
